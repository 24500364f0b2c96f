#include <algorithm>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "documents/readers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/documents/scripted_reader.h"

namespace dragoman::markdown_reader_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Texts(std::string_view part) { return TextsOf(ReadMarkdown, part); }
std::string Upper(std::string_view part) { return InUpperCase(ReadMarkdown, part); }
// As if every passage were translated as this.
std::string With(std::string_view translation, std::string_view part) {
  return TranslatedBy([&](const Passage&) { return std::string(translation); }, ReadMarkdown, part);
}

TEST(MarkdownReader, EmphasisLinksAndCodeAreMarks) {
  constexpr std::string_view kPart =
      "One *big* __dog__ ~~in~~ `a*b` [the *red* house](/h \"T\").\n";
  EXPECT_THAT(Texts(kPart),
              ElementsAre("One <x1>big</x1> <x2>dog</x2> <x3>in</x3> <x4 translate=\"no\">a*b</x4> "
                          "<x5>the <x6>red</x6> house</x5>."));
  EXPECT_EQ(Upper(kPart), "ONE *BIG* __DOG__ ~~IN~~ `a*b` [THE *RED* HOUSE](/h \"T\").\n");
}

TEST(MarkdownReader, MarkersAtTheEndsBelongToThePassage) {
  EXPECT_EQ(Upper("***both** one*\n"), "***BOTH** ONE*\n");
  EXPECT_EQ(Upper("[a *b*](/c) and **d *e***\n"), "[A *B*](/c) AND **D *E***\n");
  EXPECT_EQ(Upper("`x` is code, `` `y` ``\n"), "`x` IS CODE, `` `y` ``\n");
  EXPECT_EQ(Upper("![](a.png) text ![alt](b.png)\n"), "![](a.png) TEXT ![ALT](b.png)\n");
  EXPECT_EQ(Upper("[![alt](a.svg)](/b)\n"), "[![ALT](a.svg)](/b)\n");
  EXPECT_EQ(Upper("<https://a.org> and <a@b.org>\n"), "<https://a.org> AND <a@b.org>\n");
}

TEST(MarkdownReader, BlocksKeepTheirMarkers) {
  constexpr std::string_view kPart =
      "# One #\n\nTwo\n===\n\n> three\n> four\n\n- five\n- [x] six\n\n  seven\n\n"
      "12. eight\n\n| a | b\\|c |\n|---|:-:|\n| d *e* | |\n\n***\n";
  EXPECT_THAT(Texts(kPart), ElementsAre("One", "Two", "three four", "five", "six", "seven", "eight",
                                        "a", "b|c", "d <x1>e</x1>"));
  EXPECT_EQ(Upper(kPart),
            "# ONE #\n\nTWO\n===\n\n> THREE FOUR\n\n- FIVE\n- [x] SIX\n\n  SEVEN\n\n"
            "12. EIGHT\n\n| A | B\\|C |\n|---|:-:|\n| D *E* | |\n\n***\n");
}

TEST(MarkdownReader, OneDashDividesTheHeadOfATableFromItsRows) {
  for (const std::string line : {"--|--", "-|-", "|:-|-:|", "| - | :-: |", "---|-"}) {
    const std::string part = "one\n\na | b\n" + line + "\nc | *d*\n\nlast\n";
    EXPECT_THAT(Texts(part), ElementsAre("one", "a", "b", "c", "<x1>d</x1>", "last")) << line;
    EXPECT_EQ(Upper(part), "ONE\n\nA | B\n" + line + "\nC | *D*\n\nLAST\n");
  }
  EXPECT_EQ(Upper("> a | b\n> -|-\n> c | d\n"), "> A | B\n> -|-\n> C | D\n");
  EXPECT_EQ(Upper("```\na | b\n-|-\n```\n\nc\n"), "```\na | b\n-|-\n```\n\nC\n");
  EXPECT_EQ(Upper("<p>a | b\n-|-\nc</p>\n\nd\n"), "<p>A | B\n-|-\nC</p>\n\nD\n");
}

TEST(MarkdownReader, AnnotationsOfRubyAreNotRead) {
  EXPECT_THAT(TextsOf(ReadMarkdown, "a <ruby>b c<rp>(</rp><rt>d *e*</rt><rp>)</rp></ruby> f\n"),
              ElementsAre("a <x1>b c<x2/><x3/><x4/></x1> f"));
}

TEST(MarkdownReader, CodeHtmlCommentsAndFrontMatterAreKept) {
  constexpr std::string_view kPart =
      "---\ntitle: kept\n---\n\ntext\n\n```c\nint kept;\n```\n\n    kept\n\n<!-- kept -->\n\n"
      "<p align=\"center\">a <b>b</b></p>\n\n[ref]: /kept \"kept\"\n\n$$x=y$$\n";
  EXPECT_THAT(Texts(kPart), ElementsAre("text", "<p align=\"center\">a <b>b</b></p>"));
  EXPECT_EQ(Upper("+++\na = 1\n+++\nb\n"), "+++\na = 1\n+++\nB\n");
  EXPECT_EQ(Upper("---\n\na\n\n---\n"), "---\n\nA\n\n---\n");
}

TEST(MarkdownReader, LineBreaksThatMeanNothingAreSpaces) {
  EXPECT_EQ(Upper("one\ntwo\n"), "ONE TWO\n");
  EXPECT_EQ(Upper("> one  \n> *two*\\\n> three\n"), "> ONE  \n> *TWO*\\\n> THREE\n");
  EXPECT_EQ(Upper("one `a\nb` two\r\nthree\r\n"), "ONE `a b` TWO THREE\r\n");
  EXPECT_EQ(Upper("one <a\nhref=x>two</a>\n"), "ONE <a href=x>TWO</a>\n");
}

TEST(MarkdownReader, HtmlInALineIsAMark) {
  EXPECT_THAT(Texts("a <b class=x>b</b><br>c <kbd>Ctrl</kbd> </i>\n"),
              ElementsAre("a <x1>b</x1>\n<x2/>\nc <x3 translate=\"no\">Ctrl</x3> <x4/>"));
  EXPECT_EQ(Upper("a <b class=x>b</b><br>c <kbd>Ctrl</kbd>\n"),
            "A <b class=x>B</b><br>C <kbd>Ctrl</kbd>\n");
}

TEST(MarkdownReader, LinksThatAreNamedByTheirTextKeepTheName) {
  constexpr std::string_view kPart =
      "[dog], [cat][] and [bird][b] ![fish]\n\n[dog]: /d\n[cat]: /c\n"
      "[b]: /b\n[fish]: /f\n";
  EXPECT_EQ(Upper(kPart),
            "[DOG][dog], [CAT][cat] AND [BIRD][b] ![FISH][fish]\n\n[dog]: /d\n[cat]: /c\n"
            "[b]: /b\n[fish]: /f\n");
}

// In another file, as far as this one says.
TEST(MarkdownReader, LinksToNamesThatAreNotHereStay) {
  EXPECT_EQ(Upper("See [the *dog*][id] or ![it][id], [1][2].\n"),
            "SEE [THE *DOG*][id] OR !\\[IT\\]\\[ID\\], [1][2].\n");
}

TEST(MarkdownReader, EscapesAndEntitiesAreCharacters) {
  constexpr std::string_view kPart = "a \\* b &amp; c&nbsp;d &eacute;t&#233; 1 < 2\n";
  EXPECT_THAT(Texts(kPart), ElementsAre("a * b &amp; c <x1/>d \u00e9t\u00e9 1 &lt; 2"));
  EXPECT_EQ(Unchanged(ReadMarkdown, kPart), kPart);
  EXPECT_EQ(Upper("a&nbsp;b &copy; &rsaquo; c &#0; d\n"), "A&nbsp;B &copy; &rsaquo; C &#0; D\n");
  EXPECT_EQ(Upper("\\# a \\*b\\* snake_case\n"), "\\# A \\*B\\* SNAKE_CASE\n");
}

TEST(MarkdownReader, ReferencesComeBackAsTheyWereWritten) {
  constexpr std::string_view kPart =
      "&lt;b&gt; R&amp;D &quot;x&quot; caf&eacute; &mdash; so&hellip; &ldquo;y&rdquo;\n";
  EXPECT_THAT(Texts(kPart),
              ElementsAre("&lt;b&gt; R&amp;D \"x\" café <x1 translate=\"no\">—</x1> so<x2 "
                          "translate=\"no\">…</x2> “y”"));
  EXPECT_EQ(Unchanged(ReadMarkdown, kPart), kPart);
  EXPECT_EQ(With("5 > 4 & <i>", "a &gt; b &amp; c\n"), "5 &gt; 4 &amp; \\<i&gt;\n");
  EXPECT_EQ(With("„a“ «b»", "&ldquo;a&rdquo; &laquo;b&raquo; x\n"),
            "&bdquo;a&ldquo; &laquo;b&raquo;\n");
  EXPECT_EQ(Texts("the years 5&ndash;7\n"), std::vector<std::string>{"the years 5–7"});
  EXPECT_EQ(With("a b1", "&#97;&#32;&#49; x\n"), "a b1\n");
  EXPECT_EQ(With("a|b", "| c &#124; d |\n|---|\n"), "| a&#124;b |\n|---|\n");
}

TEST(MarkdownReader, BracketsOfNoLinkStay) {
  EXPECT_EQ(Upper("set [the name] to [0, 1] \\[at it\\]\n"), "SET [THE NAME] TO [0, 1] [AT IT]\n");
  EXPECT_EQ(With("a [b](c) [d]", "set [it] here\n"), "a \\[b\\](c) \\[d\\]\n");
  EXPECT_EQ(With("a [b]", "set \\[it\\] here\n"), "a \\[b\\]\n");
}

TEST(MarkdownReader, TagsOfTemplatesNeverMove) {
  constexpr std::string_view kPart = "one {% if x %}two{% else %}three{% endif %} {# k #} four\n";
  EXPECT_THAT(Texts(kPart), ElementsAre("one \n<x1/>\ntwo\n<x2/>\nthree\n<x3/>\n \n<x4/>\n four"));
  EXPECT_EQ(Unchanged(ReadMarkdown, kPart), kPart);
  EXPECT_EQ(Upper("one {{< ref \"x\" >}} two <%= y %> three\n"),
            "ONE {{< ref \"x\" >}} TWO <%= y %> THREE\n");
}

TEST(MarkdownReader, NothingInADestinationIsText) {
  EXPECT_EQ(
      Upper("one [two]({% link a b.md %}) [three]({{< ref \"a\" >}} \"T\") [four]({{ a.b }}/c) "
            "![five]({{ '/d.png' | e }}) [six](a~b~c$d$e(f)^g^)\n\n[seven]\n\n[seven]: {{ site.url "
            "}}/c \"T\"\n"),
      "ONE [TWO]({% link a b.md %}) [THREE]({{< ref \"a\" >}} \"T\") [FOUR]({{ a.b }}/c) "
      "![FIVE]({{ '/d.png' | e }}) [SIX](a~b~c$d$e(f)^g^)\n\n[SEVEN][seven]\n\n[seven]: {{ "
      "site.url }}/c \"T\"\n");
}

TEST(MarkdownReader, AttributesInHtmlStay) {
  EXPECT_EQ(Upper("<figure>\n![a cat](B){ width=\"300\" }\n<p>x $y z$ a</p>\n</figure>\n"),
            "<figure>\n![A CAT](B){ width=\"300\" }\n<p>X $y z$ A</p>\n</figure>\n");
}

TEST(MarkdownReader, AddressesHaveNoEscapes) {
  EXPECT_EQ(With("a_ https://a.org/b_(c)_*d x_", "one\n"), "a\\_ https://a.org/b_(c)_*d x\\_\n");
}

TEST(MarkdownReader, ItemsOfOtherListsAreTextsOfTheirOwn) {
  constexpr std::string_view kPart =
      "• one\n• two *x*\n\na. three\nb. four\n\nii. five\niii. six\n";
  EXPECT_THAT(Texts(kPart), ElementsAre("one", "two <x1>x</x1>", "three", "four", "five", "six"));
  EXPECT_EQ(Upper(kPart), "• ONE\n• TWO *X*\n\na. THREE\nb. FOUR\n\nii. FIVE\niii. SIX\n");
  EXPECT_THAT(Texts("one\ni.e. two, see\np. 5\n"), ElementsAre("one i.e. two, see p. 5"));
}

TEST(MarkdownReader, CodeBetweenTagsOfTemplatesStays) {
  for (const std::string part :
       {"{{< highlight go \"x=y\" >}}\nkept here\n\nkept\n{{< /highlight >}}",
        "{% highlight ruby %}\nkept here\n{% endhighlight %}",
        "{%- comment -%}\nkept\n{% endcomment %}", "{::comment}\nkept here\n{:/comment}"}) {
    EXPECT_EQ(Upper("one\n\n" + part + "\n\ntwo\n"), "ONE\n\n" + part + "\n\nTWO\n");
  }
  EXPECT_EQ(Upper("one \\newline two, @a [p. 5]\n"), "ONE \\newline TWO, @a [p. 5]\n");
}

// As other programs want it.
TEST(MarkdownReader, EscapesThatCommonMarkDoesNotNeedStay) {
  EXPECT_EQ(Upper("a \\{b \\$c \\<d \\#e \\@f \\:g: 5\\. 6\n"),
            "A \\{B \\$C \\<D \\#E \\@F \\:G\\: 5. 6\n");
}

TEST(MarkdownReader, WhatIsWrittenIsReadAsTheSameCharacters) {
  EXPECT_EQ(With("1. a", "b\n"), "1\\. a\n");
  EXPECT_EQ(With("- a", "b\n"), "\\- a\n");
  EXPECT_EQ(With("# *a* _b_ [c] `d` <e> f_g 2 * 3", "b\n"),
            "\\# \\*a\\* \\_b\\_ \\[c\\] \\`d\\` \\<e> f_g 2 * 3\n");
  EXPECT_EQ(With("a|b", "| x |\n|---|\n| y |\n"), "| a\\|b |\n|---|\n| a\\|b |\n");
  EXPECT_EQ(With("a|b &copy; R&D", "x\n"), "a|b \\&copy; R&D\n");
}

TEST(MarkdownReader, AnExclamationMarkMakesNoImageOfALink) {
  EXPECT_EQ(With("a!<x1>b</x1>", "one [two](/c)\n"), "a\\![b](/c)\n");
}

TEST(MarkdownReader, EmphasisStandsNextToWords) {
  EXPECT_EQ(With("a<x1> b </x1>c", "one *two* three\n"), "a *b* c\n");
  EXPECT_EQ(With("a <x1></x1>c", "one *two* three\n"), "a c\n");
}

TEST(MarkdownReader, MarkersOfEmphasisAreReadAsSuch) {
  EXPECT_EQ(With("Haus<x1>tür</x1>en", "one _two_ three\n"), "Haus*tür*en\n");
  EXPECT_EQ(With("<x1>注意：</x1>猫", "__note:__ cat\n"), "**注意：** 猫\n");
  constexpr std::string_view kMarkers[] = {"*", "_", "**", "__", "~~"};
  constexpr std::string_view kPieces[] = {"a", "é", "猫", "5", ".", "“", "：", "(", " ", "&amp;"};
  std::mt19937_64 random(1);
  for (int round = 0; round < 5000; ++round) {
    const std::string marker(kMarkers[random() % std::size(kMarkers)]);
    std::string texts[3];
    for (std::string& text : texts) {
      for (size_t pieces = random() % 3; pieces > 0; --pieces) {
        text += kPieces[random() % std::size(kPieces)];
      }
    }
    const std::string said =
        "b " + texts[0] + "<x1>" + texts[1] + "c" + texts[2] + "</x1>" + texts[0];
    const std::string out = With(said, "one " + marker + "two" + marker + " three\n");
    ASSERT_EQ(Texts(out).size(), 1);
    EXPECT_THAT(Texts(out)[0], testing::HasSubstr("<x1>")) << out;
  }
}

TEST(MarkdownReader, LinesOfTheirOwnAndFootnotesAreKept) {
  EXPECT_EQ(Upper("> [!NOTE]\n> take care\n"), "> [!NOTE]\n> TAKE CARE\n");
  EXPECT_EQ(Upper(":::tip Title\ntext\n:::\n"), ":::tip TITLE\nTEXT\n:::\n");
  EXPECT_EQ(Upper("/// tip | Title\ntext\n///\n\n//// html | div.x\ntext\n////\n"),
            "/// tip | TITLE\nTEXT\n///\n\n//// html | div.x\nTEXT\n////\n");
  EXPECT_EQ(Upper("a^[†](#note)^ b ^[note]\n"), "A^[†](#note)^ B ^[NOTE]\n");
  EXPECT_EQ(Upper("a[^n] b\n\n[^n]: a note here\n"), "A[^n] B\n\n[^n]: A NOTE HERE\n");
}

TEST(MarkdownReader, DollarsArePricesUnlessTheyEncloseAnEquation) {
  EXPECT_THAT(Texts("It costs $100, US$30 and R$40, $HOME or $5.\n"),
              ElementsAre("It costs $100, US$30 and R$40, $HOME or $5."));
  EXPECT_THAT(Texts("It costs $5 and $10, $x^2$ is old.\n"),
              ElementsAre("It costs $5 and $10, <x1 translate=\"no\">$x^2$</x1> is old."));
  EXPECT_THAT(
      Texts("See $x^2$ and $$y*z*$$.\n"),
      ElementsAre("See <x1 translate=\"no\">$x^2$</x1> and <x2 translate=\"no\">$$y*z*$$</x2>."));
  EXPECT_EQ(With("a 5$ b 6$", "x\n"), "a 5$ b 6$\n");
  EXPECT_EQ(With("a $5 b 6$", "x\n"), "a \\$5 b 6\\$\n");
  EXPECT_EQ(Upper("a \\$x b\n"), "A \\$X B\n");
}

TEST(MarkdownReader, AQuoteDoesNotEndTheTitleOfAnAdmonition) {
  EXPECT_EQ(With("\"a\" b", "!!! note \"T\"\n    x\n"), "!!! note \"'a' b\"\n    \"a\" b\n");
}

TEST(MarkdownReader, TitlesOfAdmonitionsAndTabsAreText) {
  constexpr std::string_view kPart =
      ":::tip[A *dog*]{.x}\n\none\n\n:::\n\n:::note A dog\ntwo\n:::\n\n!!! note \"A dog\"\n    "
      "three\n\n"
      "??? question\n    four\n\n=== \"A dog\"\n\n    five\n\n        kept\n\n> [!WARNING] A "
      "dog\n> six\n";
  EXPECT_THAT(Texts(kPart), ElementsAre("A <x1>dog</x1>", "one", "A dog", "two", "A dog", "three",
                                        "four", "A dog", "five", "A dog", "six"));
  EXPECT_EQ(Upper(kPart),
            ":::tip[A *DOG*]{.x}\n\nONE\n\n:::\n\n:::note A DOG\nTWO\n:::\n\n!!! note \"A DOG\"\n  "
            "  THREE\n\n"
            "??? question\n    FOUR\n\n=== \"A DOG\"\n\n    FIVE\n\n        kept\n\n> [!WARNING] A "
            "DOG\n> SIX\n");
}

TEST(MarkdownReader, DefinitionsAndLineBlocksAreTextsOfTheirOwn) {
  constexpr std::string_view kPart = "A dog\n: one\n:   two\n\n[^n]: three\n\n| four\n| five\n";
  EXPECT_THAT(Texts(kPart), ElementsAre("A dog", "one", "two", "three", "four", "five"));
  EXPECT_EQ(Upper(kPart), "A DOG\n: ONE\n:   TWO\n\n[^n]: THREE\n\n| FOUR\n| FIVE\n");
}

TEST(MarkdownReader, LinesThatAreNoTextStayAndEndAParagraph) {
  constexpr std::string_view kPart =
      "import Tabs from '@theme/Tabs';\nexport const a = 1;\n\n<Tabs items={['a > b', \"c\"]}>\n"
      "one *two*\n</Tabs>\n\n{/* kept\nkept */}\n\n{{% notice info %}}\nthree\n{{% /notice %}}\n"
      "{{< figure src=\"a\" title=\"kept\" >}}\n\n[TOC]\n\n\\newpage\n\n$$\nkept\n$$\n\n"
      "{% include a.html b=\"kept\" %}\n\nimport a car\n";
  EXPECT_THAT(Texts(kPart), ElementsAre("one <x1>two</x1>", "three", "import a car"));
  EXPECT_EQ(Unchanged(ReadMarkdown, kPart), kPart);
}

TEST(MarkdownReader, ComponentsAndExpressionsOfMdxStay) {
  constexpr std::string_view kPart =
      "<motion.div>\n\none <Foo.Bar x=\"y\">two</Foo.Bar> <>three</> a {\"{\"} "
      "b\n\n</motion.div>\n\n"
      "c {f({a: '}'}, `}${{b: \"}\"}}}`) /* } */} d{' '}<b>e</b> {n + 1} f {\n  list.map((i) => (\n"
      "    <li>{i}</li>\n  ))\n} g\n\nh <Card\n  x={1}\n  y=\"k\"\n/> i\n\n"
      "export function Kept() {\n  let kept = 1;\n\n  return kept;\n}\n\nj {it's k} l\n";
  EXPECT_THAT(
      Texts(kPart),
      ElementsAre("one <x1>two</x1> <x2>three</x2> a <x3 translate=\"no\">{\"{\"}"
                  "</x3> b",
                  testing::HasSubstr("</x1> d<x2/><x3>e</x3>"), "h <x1/> i", "j {it's k} l"));
  EXPECT_EQ(Unchanged(ReadMarkdown, kPart), kPart);
}

TEST(MarkdownReader, NothingIsIndentedCodeInMdx) {
  constexpr std::string_view kPart =
      "<A>\n    <B>\n        one *two*\n\n        - three\n    </B>\n</A>\n";
  EXPECT_THAT(Texts(kPart), IsEmpty());
  EXPECT_THAT(Texts("import A from 'a'\n\n" + std::string(kPart)),
              ElementsAre("one <x1>two</x1>", "three"));
}

// Nothing in it ends an expression early, whatever is in its strings, templates and comments.
TEST(MarkdownReader, ExpressionsAreReadAsJavaScriptReadsThem) {
  constexpr std::string_view kPieces[] = {"a", "'}'",     "\"{\"",  "`}`", "`${b}`", "{c: 1}",
                                          " ", "/* } */", "'\\'}'", "(",   ")",      "`${`}`}`"};
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string expression = "{f()";
    for (size_t pieces = random() % 8; pieces > 0; --pieces) {
      expression += kPieces[random() % std::size(kPieces)];
    }
    expression += "}";
    EXPECT_EQ(Upper("one " + expression + " two\n\n" + expression + "\n"),
              "ONE " + expression + " TWO\n\n" + expression + "\n");
  }
}

TEST(MarkdownReader, WhatStandsInEscapedBracketsIsAFormulaIfItReadsLikeOne) {
  for (const std::string formula :
       {"\\(x\\)", "\\(a + b\\)", "\\(n/2\\)", "\\[ 2 \\]", "\\(v = \\sqrt{x}\\)", "\\(\\alpha\\)",
        "\\(speed = way / time\\)", "\\(x \\text{ if it is so } y\\)", "\\(x_max\\)"}) {
    EXPECT_EQ(Upper("see " + formula + " here\n"), "SEE " + formula + " HERE\n");
  }
  for (const std::string prose : {"(not a formula, just a bracket", "(or", "(and/or",
                                  "(see x=5 here", "(well-known", "(a \\_cat\\_ here"}) {
    const std::string part = "cat \\" + prose + "\\) x\n";
    EXPECT_EQ(Texts(part).size(), 1);
    EXPECT_EQ(Texts(part)[0].find('<'), std::string::npos) << part;
  }
  EXPECT_EQ(Upper("file\\(s\\) x\n"), "FILE(S) X\n");
  EXPECT_EQ(Upper("one\n\n\\[\nx\n+ y\n\\]\n\ntwo\n"), "ONE\n\n\\[\nx\n+ y\n\\]\n\nTWO\n");
}

TEST(MarkdownReader, WhatIsNoTextInALineStays) {
  constexpr std::string_view kPart =
      "A dog {: .x }\n\n# Two {#two}\n\n![a](b.png){width=50%} c [d](e){:target=\"f\"} g\n\n"
      "see [[The house]] and [[house|the house]]^[a note] [@a2000, p. 5] @fig:b ==so== "
      "++ctrl+c++\n\n"
      "a <Icon name={x} /> b {{< c >}} d[^1]\n\n```\n{{< kept >}} $x\n```\n"
      "e {props.map(x => x + 1)} f \\(x = 5\\) \\(g\\) H~2~O 2^10^ word^1^ ~~gone~~\n\n*[HTML]: a "
      "language\n\nh {ref}`the page <page>` i {a:b}`c`{d}``e`f`` `j`{.cpp} {k} `l`\n";
  EXPECT_EQ(Upper(kPart),
            "A DOG {: .x }\n\n# TWO {#two}\n\n![A](b.png){width=50%} C [D](e){:target=\"f\"} G\n\n"
            "SEE [[The house]] AND [[house|THE HOUSE]]^[A NOTE] [@a2000, p. 5] @fig:b ==SO== "
            "++ctrl+c++\n\n"
            "A <Icon name={x} /> B {{< c >}} D[^1]\n\n```\n{{< kept >}} $x\n```\n"
            "E {props.map(x => x + 1)} F \\(x = 5\\) \\(g\\) H~2~O 2^10^ WORD^1^ ~~GONE~~\n\n"
            "*[HTML]: A LANGUAGE\n\n"
            "H {ref}`the page <page>` I {a:b}`c`{d}``e`f`` `j`{.cpp} {k} `l`\n");
}

TEST(MarkdownReader, KnowsWhatOtherMarkdownsHave) {
  constexpr std::string_view kPart =
      "% kept\n% kept\n\n!!!tip\n    zero\n\n(the-place)=\n# One\n\n:::{warning} two\n:class: "
      "kept\nthree\n:::\n\n"
      "::: kept.kept\n\n$$\nkept\n$$ (kept)\n\n%%\nkept\n%%\n\n  Kept   Kept\n------ ------\n "
      "kept\n\n"
      "+---+\n| k |\n+---+\n\na) four\niv) five\n(1) six\n\n#. seven\n#. eight\n\n(@kept) nine\n\n"
      "ten [eleven *x*]{.kept} :k:{ .kept } (@kept) (twelve) %%kept%% 5% 6%% ^kept\n\n"
      "<Box @click=\"kept\">a</Box> <button @click=\"kept\">b</button> [c](@kept)\n";
  EXPECT_EQ(
      Upper(kPart),
      "% kept\n% kept\n\n!!!tip\n    ZERO\n\n(the-place)=\n# ONE\n\n:::{warning} TWO\n:class: "
      "kept\nTHREE\n:::\n\n"
      "::: kept.kept\n\n$$\nkept\n$$ (kept)\n\n%%\nkept\n%%\n\n  Kept   Kept\n------ ------\n "
      "kept\n\n"
      "+---+\n| k |\n+---+\n\na) FOUR\niv) FIVE\n(1) SIX\n\n#. SEVEN\n#. EIGHT\n\n(@kept) NINE\n\n"
      "TEN [ELEVEN *X*]{.kept} :K:{ .kept } (@kept) (TWELVE) %%kept%% 5% 6%% ^kept\n\n"
      "<Box @click=\"kept\">A</Box> <button @click=\"kept\">B</button> [C](@kept)\n");
}

TEST(MarkdownReader, ALineBreakOfHtmlEndsASentence) {
  constexpr std::string_view kPart = "One.<br>Two.\n\n| a |\n|---|\n| b.<br/>c |\n";
  EXPECT_THAT(Texts(kPart), ElementsAre("One.\n<x1/>\nTwo.", "a", "b.\n<x1/>\nc"));
  EXPECT_EQ(Upper(kPart), "ONE.<br>TWO.\n\n| A |\n|---|\n| B.<br/>C |\n");
}

TEST(MarkdownReader, AStrongFirstLineIsATitle) {
  EXPECT_THAT(Texts("> **Note**\n> This is *it*.\n"),
              ElementsAre("<x1>Note</x1>\n<x2/>\nThis is <x3>it</x3>."));
  EXPECT_EQ(Upper("> **Note**\n> Text.\n"), "> **NOTE**\n> TEXT.\n");
  EXPECT_EQ(Upper("**Note** this\n**text**\ngoes on\n"), "**NOTE** THIS **TEXT** GOES ON\n");
}

TEST(MarkdownReader, WhatWasApartStaysApart) {
  EXPECT_EQ(With("<x1 translate=\"no\">a</x1><x2 translate=\"no\">b</x2>oder", "`a`, `b` or\n"),
            "`a` `b` oder\n");
  EXPECT_EQ(With("<x1>a</x1><x2>b</x2>", "[a](b) and [c](d)\n"), "[a](b) [b](d)\n");
  EXPECT_EQ(With("<x1 translate=\"no\">a</x1><x2>b</x2>", "`a`*s*\n"), "`a`*b*\n");
  EXPECT_EQ(With("Bis<x1/><x2 translate=\"no\">b</x2>", "To[^1] and `b`\n\n[^1]: 5\n"),
            "Bis[^1] `b`\n\n[^1]: 5\n");
}

TEST(MarkdownReader, WordsNeverVanish) {
  EXPECT_EQ(With("", "# One\n\n- *two*\n"), "# One\n\n- *two*\n");
  EXPECT_EQ(With("<x1></x1>", "- *two* three\n"), "- *two* three\n");
  EXPECT_EQ(With("<p>\nA\n\n</p>", "<p>\none\ntwo\n</p>\n"), "<p>\nA\ntwo\n</p>\n");
}

// The text and the elements at the top of a passage, in the opposite order.
std::string Reversed(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    size_t end = std::min(text.find('<'), text.size());
    if (end == 0) {
      end = text.find('>') + 1;
      const std::string tag(text.substr(1, text.find_first_of(" />") - 1));
      if (!text.substr(0, end).ends_with("/>")) end = text.find("</" + tag + ">") + tag.size() + 3;
    }
    out.insert(0, text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

size_t CountOf(std::string_view what, std::string_view text) {
  size_t count = 0;
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(MarkdownReader, BadTranslationsKeepTheStructure) {
  constexpr std::string_view kPieces[] = {
      "`a`",       "[b](/c)", "*d*",          "word, ",  "$x$",    "{{< e >}}",
      "[^1]",      "==f==",   "[@g, p]",      "h`i`",    "&copy;", "&mdash;",
      "j&hellip;", "{k(1)}",  "<L.M>n</L.M>", "\\(o\\)", "&lt;p"};
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string part = "- ";
    for (size_t pieces = 1 + random() % 8; pieces > 0; --pieces) {
      part += std::string(kPieces[random() % std::size(kPieces)]) + " ";
    }
    part += "\n\n| " + part.substr(2) + " |\n|---|\n| x |\n";
    SCOPED_TRACE(part);
    EXPECT_EQ(Unchanged(ReadMarkdown, part), part);
    EXPECT_EQ(With("", part), part);
    for (const bool reversed : {true, false}) {
      const std::string out = TranslatedBy(
          [&](const Passage& passage) {
            const bool tags = passage.markup == PassageMarkup::kXml;
            return reversed ? tags ? Reversed(passage.text) : passage.text
                            : passage.text + " and again";
          },
          ReadMarkdown, part);
      for (const std::string_view kept :
           {"`a`", "](/c)", "$x$", "{{< e >}}", "[^1]", "[@g, p]", "&copy;", "&mdash;", "&hellip;",
            "{k(1)}", "<L.M>", "</L.M>", "\\(o\\)", "&lt;"}) {
        EXPECT_EQ(CountOf(kept, out), CountOf(kept, part)) << out;
      }
      EXPECT_EQ(CountOf("``", out), 0) << out;
      EXPECT_EQ(CountOf("\n", out), CountOf("\n", part)) << out;
      EXPECT_EQ(Texts(out).size(), Texts(part).size()) << out;
    }
  }
}

// The model may put what begins a list, a heading or a quote in front of an element.
TEST(MarkdownReader, ATranslationBeginsNoBlock) {
  for (const std::string mark : {"- ", "1. ", "# ", "&gt; "}) {
    const std::string moved = mark + "<x1>Rot</x1> ist es";
    const std::string written = With(moved, "- **red** it is\n");
    EXPECT_THAT(Texts(written), ElementsAre(moved)) << written;
    EXPECT_EQ(written.find("- "), written.rfind("- ", 0)) << written;
  }
}

TEST(MarkdownReader, LongBlocksAreCut) {
  std::string lines, sentences, html = "<p>";
  for (int i = 0; i < 1000; ++i) {
    lines += "The man sees house *" + std::to_string(i) + "*.<br>\n";
    sentences += "It is a dog, `no` cat. ";
    html += "The man sees house " + std::to_string(i) + ".<br>\n";
  }
  sentences.back() = '\n';
  for (const std::string& part : {lines, sentences, html + "</p>\n"}) {
    const std::vector<std::string> texts = Texts(part);
    EXPECT_GT(texts.size(), 2);
    for (const std::string& text : texts) EXPECT_LT(text.size(), 25000);
    EXPECT_EQ(Unchanged(ReadMarkdown, part), part);
  }
}

TEST(MarkdownReader, KnowsTheLine) {
  const auto passages = ReadMarkdown("---\na: b\n---\n\nc\n\n- d\n", {});
  ASSERT_TRUE(passages.ok());
  ASSERT_EQ(passages->size(), 2);
  EXPECT_EQ((*passages)[0].line, 5);
  EXPECT_EQ((*passages)[1].line, 7);
  EXPECT_THAT(Texts("1\n\n```\n"), IsEmpty());
}

}  // namespace
}  // namespace dragoman::markdown_reader_test
