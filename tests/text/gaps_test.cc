// Where an emoji, which the model does not read, goes in a translation; "@" in the sources here.

#include "engine/text/gaps.h"

#include <algorithm>
#include <string>
#include <vector>

#include "engine/text/placement.h"
#include "engine/text/words.h"
#include "gtest/gtest.h"

namespace dragoman::gaps_test {
namespace {

// For each word of the translation, how much of it comes from each word that was read.
using Attention = std::vector<std::vector<float>>;

// The target with each "@" at its place.
std::string Placed(const std::string& source, const std::string& target,
                   const Attention& attention) {
  std::vector<SentenceMark> marks;
  std::vector<TextSpan> read;
  for (const TextSpan word : SplitWords(source, {})) {
    if (source[word.begin] == '@') {
      marks.push_back({.kind = MarkKind::kOpaque, .text = word, .read = {}});
    } else {
      read.push_back(word);
    }
  }
  std::vector<float> all;
  for (const std::vector<float>& row : attention) all.insert(all.end(), row.begin(), row.end());
  const Placement placement = PlaceMarks({.source = source,
                                          .target = target,
                                          .source_tokens = read,
                                          .target_tokens = SplitWords(target, {}),
                                          .attention = all},
                                         marks);
  std::string text = target;
  for (size_t m = marks.size(); m-- > 0;) text.insert(placement.marks[m].begin, "@");
  return text;
}

TEST(Gaps, AreBetweenWhatBothNeighboursHaveBecome) {
  const Attention attention = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
  EXPECT_EQ(Placed("We send you @ tomorrow", "Wir schicken dir morgen", attention),
            "Wir schicken dir @morgen");
}

// A word that lost its object attends to the word behind the gap, too.
TEST(Gaps, AWordOfBothNeighboursIsOnTheSideThatLeavesTheOtherItsOwn) {
  EXPECT_EQ(Placed("She works with @ every day", "Sie arbeitet mit jedem Tag",
                   {{1, 0, 0, 0, 0},
                    {0, 0.9f, 0, 0.1f, 0},
                    {0, 0, 0.3f, 0.6f, 0.1f},
                    {0, 0, 0, 1, 0},
                    {0, 0, 0, 0, 1}}),
            "Sie arbeitet mit @jedem Tag");
}

TEST(Gaps, AreNextToWhatOneNeighbourHasBecomeIfTheyParted) {
  const Attention attention = {{0, 0, 1, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 0, 1}};
  EXPECT_EQ(Placed("We send you @ tomorrow", "Te mandamos enviando mañana", attention),
            "Te mandamos enviando @mañana");
}

TEST(Gaps, BeforeAWordThatVanishedAreAfterTheOther) {
  EXPECT_EQ(Placed("Use it @ instead", "Nimm es", {{1, 0, 0}, {0, 1, 0}}), "Nimm es@");
}

TEST(Gaps, AtTheEndsOfASentenceStayThere) {
  const Attention reversed = {{0, 0, 1}, {0, 1, 0}, {1, 0, 0}};
  EXPECT_EQ(Placed("@ I love you", "dich liebe ich", reversed), "@dich liebe ich");
  EXPECT_EQ(Placed("I love you @ @", "dich liebe ich", reversed), "dich liebe ich@@");
}

TEST(Gaps, BeforeTheLastPunctuationStayBeforeIt) {
  const Attention attention = {{1, 0, 0, 0}, {0, 0, 1, 0}, {0, 1, 0, 0}, {0, 0, 0, 1}};
  EXPECT_EQ(Placed("I love you @.", "Ich dich liebe!", attention), "Ich dich liebe@!");
  EXPECT_EQ(Placed("I love you @ @.", "Ich dich liebe !", attention), "Ich dich liebe@@ !");
  EXPECT_EQ(Placed("I love you @.", "Ich dich liebe", {{1, 0, 0, 0}, {0, 0, 1, 0}, {0, 1, 0, 0}}),
            "Ich dich liebe@");
  // The bracket is not the source's.
  EXPECT_EQ(
      Placed("I love you @.", "Ich dich (ja).",
             {{1, 0, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 1}}),
      "Ich dich (ja)@.");
}

TEST(Gaps, ThatTouchAWordStayWithIt) {
  const Attention attention = {{1, 0, 0, 0}, {0, 0, 1, 0}, {0, 1, 0, 0}, {0, 0, 0, 1}};
  EXPECT_EQ(Placed("I love you@.", "Ich dich liebe.", attention), "Ich dich@ liebe.");
}

TEST(Gaps, OfSeveralMarksAreTheSame) {
  const Attention attention = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  EXPECT_EQ(Placed("I @ @ love you", "Ich liebe dich", attention), "Ich @@liebe dich");
}

// Hardly anything of the translation comes from its words.
TEST(Gaps, APairedMarkWhoseWordsVanishedTakesTheNearestWord) {
  const std::vector<SentenceMark> marks = {{.text = {2, 5}, .read = {}}};  // "big"
  const auto place = [&](const std::vector<float>& attention) {
    return PlaceMarks({.source = "A big cat",
                       .target = "Ein Kater",
                       .source_tokens = {{0, 1}, {2, 5}, {6, 9}},
                       .target_tokens = {{0, 3}, {4, 9}},
                       .attention = attention},
                      marks)
        .marks[0];
  };
  EXPECT_EQ(place({1, 0, 0, 0, 0.3f, 0.7f}), (TextSpan{4, 9}));
  EXPECT_EQ(place({1, 0, 0, 0, 0.4f, 0.6f}), (TextSpan{4, 9}));
}

TEST(Gaps, MarksWhoseWordsVanishedTakeAWordEachWhileThereAreAny) {
  const std::vector<SentenceMark> marks = {
      {.text = {0, 1}, .read = {}}, {.text = {2, 5}, .read = {}}, {.text = {6, 9}, .read = {}}};
  const Placement placement = PlaceMarks({.source = "A big cat",
                                          .target = "Ein Kater!",
                                          .source_tokens = {{0, 1}, {2, 5}, {6, 9}},
                                          .target_tokens = {{0, 3}, {4, 9}, {9, 10}},
                                          .attention = std::vector<float>(9, 0.0f)},
                                         marks);
  std::vector<TextSpan> taken = placement.marks;
  EXPECT_EQ(std::count_if(taken.begin(), taken.end(), [](TextSpan s) { return s.size() >= 3; }), 2);
}

}  // namespace
}  // namespace dragoman::gaps_test
