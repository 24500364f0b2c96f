// How much of the given phrases a hypothesis has said.

#include "engine/search/phrases.h"

#include <memory>
#include <string>
#include <vector>

#include "engine/text/word_joins.h"
#include "gtest/gtest.h"

namespace dragoman {
namespace {

// A vocabulary in pieces.
const std::vector<std::string> kPieces = {"", "▁a", "▁b", "n", "s", "."};

// Extends a hypothesis token by token, and tells how much of the phrases it contains.
class PhrasesTest : public testing::Test {
 protected:
  PhraseProgress Say(const Phrases& phrases, std::vector<int32_t> tokens) {
    for (const int32_t token : tokens) {
      progress_ = phrases.After(tokens_, progress_, token);
      tokens_.push_back(token);
    }
    return progress_;
  }

  PhraseProgress progress_;
  std::vector<int32_t> tokens_;
};

TEST_F(PhrasesTest, ProgressFallsBackToTheLongestBeginning) {
  const Phrases phrases({Phrase{{{1, 2, 1, 3}}}, Phrase{{{2, 4}}}}, nullptr);
  EXPECT_EQ(Say(phrases, {1, 2, 1}), (PhraseProgress{0, 3, 3}));
  // 1 2 1 2: the end "1 2" begins the first phrase, too
  EXPECT_EQ(Say(phrases, {2}), (PhraseProgress{0, 2, 2}));
  // and "2 4" is the second
  EXPECT_EQ(Say(phrases, {4}), (PhraseProgress{0, 2, 2}));
  EXPECT_EQ(phrases.Said(tokens_, progress_), 0b10u);
  EXPECT_EQ(Say(phrases, {1, 2, 1, 3}), (PhraseProgress{2, 4, 4}));
  EXPECT_EQ(phrases.Said(tokens_, progress_), 0b11u);
  EXPECT_EQ(Say(phrases, {5}), (PhraseProgress{3, 0, 0}));
}

TEST_F(PhrasesTest, AWordThatGoesOnTakesItsPhraseBack) {
  const Phrases phrases({Phrase{{{1, 3}}}, Phrase{{{1}}}}, std::make_shared<WordJoins>(kPieces));
  EXPECT_EQ(Say(phrases, {1}), (PhraseProgress{0, 1, 1}));
  EXPECT_EQ(phrases.Said(tokens_, progress_), 0b10u);
  EXPECT_EQ(Say(phrases, {3}), (PhraseProgress{0, 2, 2}));  // "an" instead of "a"
  EXPECT_EQ(Say(phrases, {4}), (PhraseProgress{0, 0, 0}));  // "ans"
  EXPECT_EQ(phrases.Said(tokens_, progress_), 0u);
  EXPECT_EQ(Say(phrases, {1, 3, 5}), (PhraseProgress{1, 0, 0}));  // "an."
  EXPECT_EQ(Say(phrases, {1, 3}), (PhraseProgress{1, 0, 0}));     // "an", which does not say "a"
  EXPECT_EQ(Say(phrases, {1, 2}), (PhraseProgress{3, 0, 0}));
}

TEST_F(PhrasesTest, AnyFormSaysAPhraseAndNoneCountsMoreThanAnother) {
  const Phrases phrases({Phrase{{{1, 2, 3}, {1, 4}, {5, 6}}}, Phrase{{{4}}}}, nullptr);
  EXPECT_EQ(phrases.tokens(), 3);
  EXPECT_EQ(Say(phrases, {1, 2, 3}), (PhraseProgress{0, 3, 2}));
  EXPECT_EQ(phrases.TokensSaid(progress_), 2);
  EXPECT_EQ(phrases.Said(tokens_, progress_), 0b01u);
  EXPECT_EQ(Say(phrases, {1}), (PhraseProgress{0b01, 0, 0}));  // not once more in another form
  EXPECT_EQ(phrases.TokensSaid(progress_), 2);
  EXPECT_EQ(Say(phrases, {4}), (PhraseProgress{0b01, 1, 1}));
  EXPECT_EQ(phrases.Said(tokens_, progress_), 0b11u);
  std::vector<int32_t> next;
  phrases.Next({}, {}, &next);
  EXPECT_EQ(next, (std::vector<int32_t>{1, 4, 5}));
}

}  // namespace
}  // namespace dragoman
