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
  const Phrases phrases({{1, 2, 1, 3}, {2, 4}}, nullptr);
  EXPECT_EQ(Say(phrases, {1, 2, 1}), (PhraseProgress{0, 3}));
  // 1 2 1 2: the end "1 2" begins the first phrase, too
  EXPECT_EQ(Say(phrases, {2}), (PhraseProgress{0, 2}));
  // and "2 4" is the second
  EXPECT_EQ(Say(phrases, {4}), (PhraseProgress{0, 2}));
  EXPECT_EQ(phrases.Said(tokens_, progress_), 1);
  EXPECT_EQ(Say(phrases, {1, 2, 1, 3}), (PhraseProgress{2, 4}));
  EXPECT_EQ(phrases.Said(tokens_, progress_), 2);
  EXPECT_EQ(Say(phrases, {5}), (PhraseProgress{3, 0}));
}

TEST_F(PhrasesTest, AWordThatGoesOnTakesItsPhraseBack) {
  const Phrases phrases({{1, 3}, {1}}, std::make_shared<WordJoins>(kPieces));
  EXPECT_EQ(Say(phrases, {1}), (PhraseProgress{0, 1}));
  EXPECT_EQ(phrases.Said(tokens_, progress_), 1);
  EXPECT_EQ(Say(phrases, {3}), (PhraseProgress{0, 2}));  // "an" instead of "a"
  EXPECT_EQ(Say(phrases, {4}), (PhraseProgress{0, 0}));  // "ans"
  EXPECT_EQ(phrases.Said(tokens_, progress_), 0);
  EXPECT_EQ(Say(phrases, {1, 3, 5}), (PhraseProgress{1, 0}));  // "an."
  EXPECT_EQ(Say(phrases, {1, 3}), (PhraseProgress{1, 0}));     // "an", which does not say "a"
  EXPECT_EQ(Say(phrases, {1, 2}), (PhraseProgress{3, 0}));
}

}  // namespace
}  // namespace dragoman
