#include "engine/text/literal_marks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/text/marked_sentence.h"

namespace dragoman {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> SentencesOf(const std::string& raw) {
  MarkedText text = ReadPlain(raw, /*join_lines=*/false);
  MarkLiterals([](std::string_view) { return true; }, &text);
  std::vector<std::string> sentences;
  for (const MarkedSentence& sentence : FindSentences(text, /*split=*/true)) {
    sentences.push_back(text.text.substr(sentence.text.begin, sentence.text.size()));
  }
  return sentences;
}

TEST(LiteralMarks, NoSentenceEndsWithinALiteral) {
  EXPECT_THAT(SentencesOf("Delete {n, plural, one {it? Yes} other {# of. Them}} now. Then go."),
              ElementsAre("Delete {n, plural, one {it? Yes} other {# of. Them}} now.", "Then go."));
}

TEST(LiteralMarks, EachSymbolIsAskedForOnce) {
  std::vector<std::string> asked;
  MarkedText text = ReadPlain("“a” and “b”", /*join_lines=*/false);
  MarkLiterals(
      [&](std::string_view symbol) {
        asked.emplace_back(symbol);
        return true;
      },
      &text);
  EXPECT_THAT(asked, ElementsAre("“", "”"));
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

}  // namespace
}  // namespace dragoman
