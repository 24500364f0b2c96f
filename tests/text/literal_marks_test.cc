#include "engine/text/literal_marks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "engine/text/html_reader.h"
#include "engine/text/marked_sentence.h"
#include "engine/text/words.h"

namespace dragoman::literal_marks_test {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> SentencesOf(const std::string& raw,
                                     TextSource source = TextSource::kProse) {
  MarkedText text = ReadPlain(raw, /*join_lines=*/false);
  MarkLiterals([](std::string_view) { return true; }, &text, source);
  std::vector<std::string> sentences;
  for (const MarkedSentence& sentence : FindSentences(text, /*split=*/true)) {
    sentences.push_back(text.text.substr(sentence.text.begin, sentence.text.size()));
  }
  return sentences;
}

// What a model reads of a text that is one sentence.
std::string ReadOf(MarkedText text) {
  MarkLiterals([](std::string_view) { return true; }, &text);
  const std::vector<MarkedSentence> sentences = FindSentences(text, /*split=*/false);
  EXPECT_EQ(sentences.size(), 1u);
  return InputOf(text, sentences.front()).text;
}
std::string ReadOf(const std::string& raw) { return ReadOf(ReadPlain(raw, false)); }

// Where the marks of HTML and of its literals lie, with the mark around each.
std::vector<std::string> MarksOf(const std::string& html) {
  MarkedText text = ReadHtml(html, {});
  MarkLiterals([](std::string_view) { return true; }, &text);
  std::vector<std::string> marks;
  for (const Mark& mark : text.marks) {
    marks.push_back(text.text.substr(mark.text.begin, mark.text.size()) + " in " +
                    std::to_string(mark.parent));
  }
  return marks;
}

TEST(LiteralMarks, AStandInIsANumberThatTheTextDoesNotHave) {
  EXPECT_EQ(ReadOf("Give %s to %s."), "Give 7294 to 8005.");
  EXPECT_EQ(ReadOf("Give 7294 to %s."), "Give 7294 to 7798.");
}

TEST(LiteralMarks, APairAroundPlaceholdersWithTagsInThemIsStillAPair) {
  EXPECT_THAT(
      MarksOf("A [u]<i>{a}</i>{b}[/u]"),
      ElementsAre("[u] in -1", "{a}{b} in -1", "{a} in 1", "{a} in 2", "{b} in 1", "[/u] in -1"));
}

TEST(LiteralMarks, AFixedSpaceIsReadAsASpace) {
  EXPECT_EQ(ReadOf("Total:\u00a0%s and %d\u00a0cats"), "Total: 7294 and 8005 cats");
}

TEST(LiteralMarks, TagsPartLiterals) {
  EXPECT_THAT(MarksOf("a (<i>%1$s</i>) {<b>0</b>} %s<br>%d b"),
              ElementsAre("%1$s in -1", "%1$s in 0", "0 in -1", "%s in -1", "%d in -1"));
}

TEST(LiteralMarks, TagsThatBelongTogetherArePairs) {
  EXPECT_EQ(ReadOf("A <b>big</b> **old** <i>cat, un[der](/line)."), "A big old cat, under.");
  EXPECT_THAT(MarksOf("&lt;b&gt;a &lt;i&gt;b&lt;/i&gt;&lt;/b&gt;"),
              ElementsAre("<b> in -1", "a <i>b</i> in -1", "<i> in 1", "b in 1", "</i> in 1",
                          "</b> in -1"));
  EXPECT_THAT(MarksOf("&lt;b&gt;a <i>b&lt;/b&gt;</i> &lt;b&gt;"),
              ElementsAre("<b> in -1", "b</b> in -1", "</b> in 1", "<b> in -1"));
  EXPECT_THAT(SentencesOf("<b>Stop.</b> <i>Go on. Now</i>"),
              ElementsAre("<b>Stop.</b>", "<i>Go on.", "Now</i>"));
  EXPECT_THAT(SentencesOf("<p>one</p><P>two<br/>three</P>"), ElementsAre("one", "two", "three"));
  EXPECT_THAT(SentencesOf("go <link>on</link> <Title>it</Title>"),
              ElementsAre("go <link>on</link> <Title>it</Title>"));
}

TEST(LiteralMarks, WhatTouchesIsOneMark) {
  EXPECT_EQ(
      ReadOf(ReadHtml("Press <kbd>Ctrl</kbd>+<kbd>C</kbd> or <kbd>Alt</kbd> + <kbd>X</kbd>.", {})),
      "Press 7294 or Alt  X.");
  EXPECT_EQ(ReadOf(ReadHtml("Use <kbd>a</kbd><kbd>b</kbd>.", {})), "Use ab.");
  EXPECT_EQ(ReadOf(ReadHtml("<code>a</code>, <code>b</code> and <code>c</code>d", {})),
            "a, b and c d");
}

TEST(LiteralMarks, AnIndexIsAPartOfItsFormula) {
  EXPECT_EQ(
      ReadOf(ReadHtml("H<sub>2</sub>O, C<sub>6</sub>H<sub>12</sub>, SO<sub>4</sub><sup>2-</sup>,"
                      " x<sub>i</sub> in cm<sup>2</sup> or E=mc<i>2</i>.",
                      {})),
      "7294, 8005, 8716, 9427 in 1138 or 1849.");
  EXPECT_THAT(MarksOf("the 2<sup>nd</sup> word<sup>2</sup> a<b>cd</b>"),
              ElementsAre("nd in -1", "2 in -1", "cd in -1"));
}

TEST(LiteralMarks, WhatIsInvisibleIsReadAsIfItWereNotThere) {
  EXPECT_EQ(ReadOf("Wo\u00ADchen\u200Bende \u2068%s\u2069 \u200Enow"), "Wochenende 8716 now");
  EXPECT_EQ(ReadOf("می\u200Cروم"), "می\u200Cروم");  // Persian is spelled so
  EXPECT_THAT(MarksOf("a \u2068%s\u2069"), ElementsAre("\u2068%s\u2069 in -1"));
}

TEST(LiteralMarks, AnEmojiIsNotRead) {
  EXPECT_EQ(ReadOf("Give %s 🙂 to %s."), "Give 7294  to 8716.");
}

TEST(LiteralMarks, PunctuationIsTheModelsAffair) {
  MarkedText text = ReadPlain("«A» – “b”… ☃, c→d $5 (f)", false);
  MarkLiterals([](std::string_view) { return false; }, &text);
  std::vector<std::string> kept;
  for (const Mark& mark : text.marks) {
    kept.push_back(text.text.substr(mark.text.begin, mark.text.size()));
  }
  EXPECT_THAT(kept, ElementsAre("–", "…", "☃", "→", "$"));
  EXPECT_EQ(InputOf(text, FindSentences(text, false)[0]).text, "«A» – “b”… , c d 5 (f)");
}

TEST(LiteralMarks, SignsAreKept) {
  EXPECT_EQ(ReadOf("Cost* of a => b, x=1 and 5 > 3 | 4 + 1 and/or #."),
            "Cost of a  b, 8716 and 5  3  4  1 and/or #.");
  EXPECT_EQ(ReadOf("Cats & dogs, Q&A"), "Cats 7294 dogs, 8005");
  EXPECT_EQ(ReadOf("<{a} b> and c/d, e#f, - g -- h."), "<7294 b> and c/d, e#f, - g -- h.");
  EXPECT_THAT(MarksOf("a <b>+</b> <i>&raquo;</i>d <u>?</u> <s> | </s>.<tt>-</tt>"),
              ElementsAre("+ in -1", "+ in 0", "» in -1", "» in 2", "? in -1", "|  in -1", "| in 5",
                          "- in -1", "- in 7"));
  EXPECT_EQ(ReadOf("<5 cats, >=10 or - ~3 <b c"), "5 cats, 10 or - ~3 <b c");
  for (const char* item : {"* a b", "+ a b", "# a b", ">> a b", "c d\n  * a b"}) {
    EXPECT_EQ(ReadOf(item), item);
  }
}

TEST(LiteralMarks, WhatSeparatesEndsASentence) {
  EXPECT_THAT(SentencesOf("Home | the cat » c\td · e"),
              ElementsAre("Home", "the cat", "c", "d", "e"));
  EXPECT_THAT(SentencesOf("« Home » or a|b/c"), ElementsAre("« Home » or a|b/c"));
  EXPECT_THAT(SentencesOf("« Back | Next »"), ElementsAre("Back", "Next"));
  EXPECT_THAT(SentencesOf("    -v   be loud\n  show  this", TextSource::kStrings),
              ElementsAre("-v", "be loud", "show  this"));
  EXPECT_THAT(SentencesOf("be   loud"), ElementsAre("be   loud"));
  EXPECT_THAT(SentencesOf("»Nein«, « oui »"), ElementsAre("»Nein«, « oui »"));
  MarkedText text = ReadHtml("<a>Home</a> / <a>Cats</a> or <b>a</b> + <b>c</b> &gt; <i>d</i>", {});
  MarkLiterals([](std::string_view) { return true; }, &text);
  EXPECT_EQ(FindSentences(text, /*split=*/true).size(), 3u);
}

TEST(LiteralMarks, WordsInUnknownLettersAreKept) {
  MarkedText text = ReadPlain("Go to Красная площадь, 漢字。 or café ñ a β, ™ now", false);
  MarkLiterals([](std::string_view letter) { return letter == "β" || letter == "™"; }, &text);
  std::vector<std::string> kept;
  for (const Mark& mark : text.marks) {
    kept.push_back(text.text.substr(mark.text.begin, mark.text.size()));
  }
  EXPECT_THAT(kept, ElementsAre("Красная площадь", "漢字。", "™"));
}

TEST(LiteralMarks, WordsOfOpaqueElementsAreReadIfModelsCopyThem) {
  EXPECT_EQ(ReadOf(ReadHtml("Press <kbd>Esc</kbd> or <kbd>F1</kbd>.", {})), "Press Esc or 8005.");
  EXPECT_EQ(ReadOf(ReadHtml("Press<kbd>Esc</kbd>now.", {})), "Press Esc now.");
  EXPECT_EQ(ReadOf(ReadHtml("A <code>" + std::string(25, 'x') + "</code>.", {})), "A 7294.");
}

TEST(LiteralMarks, GoAmongTheMarksOfTheText) {
  EXPECT_THAT(MarksOf("%d <b>Use <i>%s</i></b> now"),
              ElementsAre("%d in -1", "Use %s in -1", "%s in 1", "%s in 2"));
  EXPECT_THAT(MarksOf("Use <kbd>%s</kbd>"), ElementsAre("%s in -1"));
  EXPECT_THAT(MarksOf("Use %<b>s</b> now"), ElementsAre("s in -1"));
  EXPECT_THAT(MarksOf("<p title='Use %s'>now</p>"), ElementsAre());
}

TEST(LiteralMarks, AnElementOfOneLetterIsNoInitial) {
  const MarkedText text = ReadHtml("Press <kbd>X</kbd>. Then go.", {});
  EXPECT_EQ(FindSentences(text, /*split=*/true).size(), 2u);
}

TEST(LiteralMarks, NoSentenceEndsWithinALiteral) {
  EXPECT_THAT(SentencesOf("Delete {n, plural, one {it? Yes} other {# of. Them}} now. Then go."),
              ElementsAre("Delete {n, plural, one {it? Yes} other {# of. Them}} now.", "Then go."));
}

TEST(LiteralMarks, EachSymbolIsAskedForOnce) {
  std::vector<std::string> asked;
  MarkedText text = ReadPlain("≤a≥,\u00A0or ≤ü≥.", /*join_lines=*/false);
  MarkLiterals(
      [&](std::string_view symbol) {
        asked.emplace_back(symbol);
        return true;
      },
      &text);
  EXPECT_THAT(asked, ElementsAre("≤", "≥"));
}

TEST(LiteralMarks, LinesOfPlainTextMayBeJoined) {
  EXPECT_EQ(ReadPlain("a\r\nb", /*join_lines=*/true).text, "a  b");
  EXPECT_EQ(ReadPlain("a\r\nb", /*join_lines=*/false).text, "a\r\nb");
}

// A stand-in that the translation says twice is replaced once and left out once.
TEST(LiteralMarks, AStandInIsSaidOnce) {
  const std::vector<SentenceMark> marks = {
      {.kind = MarkKind::kOpaque, .text = {4, 6}, .read = "7294", .stand_in = true}};
  const std::string target = "Nimm 7294 und 7294.";
  const Placement placement = PlaceMarks({.source = "Use %s.",
                                          .target = target,
                                          .source_tokens = {{0, 3}, {4, 6}, {6, 7}},
                                          .target_tokens = {{0, 4}, {5, 9}, {10, 13}, {14, 18}},
                                          .attention = {}},
                                         marks);
  EXPECT_THAT(placement.marks, ElementsAre(TextSpan{5, 9}));
  EXPECT_THAT(placement.removed, ElementsAre(TextSpan{13, 18}));
}

TEST(LiteralMarks, DotsAtTheEndTakeThePlaceOfAFullStop) {
  const std::string source = "It is…";
  const auto place = [&](std::string_view target, std::vector<TextSpan> tokens) {
    return PlaceMarks({.source = source,
                       .target = target,
                       .source_tokens = {{0, 2}, {3, 5}},
                       .target_tokens = std::move(tokens),
                       .attention = {}},
                      std::vector<SentenceMark>{
                          {.kind = MarkKind::kOpaque, .text = {5, source.size()}, .read = "…"}})
        .marks.at(0);
  };
  EXPECT_EQ(place("Es ist.", {{0, 2}, {3, 6}}), (TextSpan{6, 7}));
  EXPECT_EQ(place("Es ist", {{0, 2}, {3, 6}}), (TextSpan{6, 6}));
}

// Nor does a space come in where the source has none.
TEST(LiteralMarks, WhatTouchesPunctuationTouchesIt) {
  const std::vector<SentenceMark> marks = {
      {.kind = MarkKind::kOpaque, .text = {4, 6}, .read = "7294", .stand_in = true}};
  const std::string target = "( 7294 , ja";
  const Placement placement = PlaceMarks({.source = "b, (%s, a",
                                          .target = target,
                                          .source_tokens = {{4, 6}},
                                          .target_tokens = {{2, 6}},
                                          .attention = {}},
                                         marks);
  EXPECT_THAT(placement.removed, ElementsAre(TextSpan{1, 2}));
}

// Where the model has a space, and where it puts brackets.
TEST(LiteralMarks, WhatTouchedStillDoes) {
  const auto place = [](SentenceMark mark, std::string_view source, std::string_view target) {
    const Placement placement = PlaceMarks({.source = source,
                                            .target = target,
                                            .source_tokens = SpansOfCharacters(source),
                                            .target_tokens = SpansOfCharacters(target),
                                            .attention = {}},
                                           std::vector<SentenceMark>{mark});
    std::string text(target);
    for (auto span = placement.removed.rbegin(); span != placement.removed.rend(); ++span) {
      text.erase(span->begin, span->size());
    }
    return text;
  };
  const SentenceMark stand_in = {
      .kind = MarkKind::kOpaque, .text = {0, 2}, .read = "7294", .stand_in = true};
  EXPECT_EQ(place(stand_in, "%sing", "7294 klick"), "7294 klick");
  const SentenceMark sign = {.kind = MarkKind::kEmpty, .text = {3, 3}};
  EXPECT_EQ(place(sign, "cats", "ein Kater"), "einKater");
  const SentenceMark link = {.text = {5, 6}, .bracketed = true};
  EXPECT_EQ(place(link, "see (x) y", "(siehe x) y"), "siehe x y");
  EXPECT_EQ(place(link, "see (x) y", "siehe (x) y"), "siehe (x) y");
  EXPECT_EQ(place(link, "see (x) y", "siehe x () y)"), "siehe x  y");
  EXPECT_EQ(place(link, "see (x) y (z)", "(siehe x) y (z)"), "siehe x y (z)");
  const SentenceMark words = {.text = {1, 8}, .bracketed = true};
  EXPECT_EQ(place(words, "(the cat)", "die (Katze"), "die Katze");
}

// The work for a sentence of literals alone is in proportion to its size.
TEST(LiteralMarks, AreReadInLinearTime) {
  const auto seconds = [](size_t literals) {
    std::string raw;
    for (size_t i = 0; i < literals; ++i) raw += "a %s | ";
    const absl::Time begin = absl::Now();
    EXPECT_GT(ReadOf(raw).size(), 5 * literals);
    return absl::ToDoubleSeconds(absl::Now() - begin);
  };
  const auto least = [&](size_t n) { return std::min({seconds(n), seconds(n), seconds(n)}); };
  EXPECT_LT(least(40000), 12 * least(8000));
}

}  // namespace
}  // namespace dragoman::literal_marks_test
