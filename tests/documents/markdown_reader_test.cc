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
              ElementsAre("a <x1>b</x1><x2/>c <x3 translate=\"no\">Ctrl</x3> <x4/>"));
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

TEST(MarkdownReader, EscapesAndEntitiesAreCharacters) {
  constexpr std::string_view kPart = "a \\* b &amp; c&nbsp;d &eacute;t&#233; 1 < 2\n";
  EXPECT_THAT(Texts(kPart), ElementsAre("a * b & c\u00a0d \u00e9t\u00e9 1 < 2"));
  EXPECT_EQ(Unchanged(ReadMarkdown, kPart), kPart);
  EXPECT_EQ(Upper("\\# a \\*b\\* snake_case\n"), "\\# A \\*B\\* SNAKE_CASE\n");
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

TEST(MarkdownReader, LinesOfTheirOwnAndFootnotesAreKept) {
  EXPECT_EQ(Upper("> [!NOTE]\n> take care\n"), "> [!NOTE]\n> TAKE CARE\n");
  EXPECT_EQ(Upper(":::tip Title\ntext\n:::\n"), ":::tip TITLE\nTEXT\n:::\n");
  EXPECT_EQ(Upper("a[^n] b\n\n[^n]: a note here\n"), "A[^n] B\n\n[^n]: A NOTE HERE\n");
}

TEST(MarkdownReader, KnowsTheLine) {
  const auto passages = ReadMarkdown("---\na: b\n---\n\nc\n\n- d\n", {});
  ASSERT_TRUE(passages.ok());
  ASSERT_EQ(passages->size(), 2);
  EXPECT_EQ((*passages)[0].line, 5);
  EXPECT_EQ((*passages)[1].line, 7);
  EXPECT_THAT(Texts("a\n\xff"), ElementsAre("line 2: is not UTF-8"));
  EXPECT_THAT(Texts("1\n\n```\n"), IsEmpty());
}

}  // namespace
}  // namespace dragoman::markdown_reader_test
