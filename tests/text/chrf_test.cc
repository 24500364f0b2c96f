#include "engine/text/chrf.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman::chrf_test {
namespace {

using ::testing::ElementsAre;

double Score(const std::string& hypothesis, const std::string& reference) {
  return ChrF(CharacterNgrams(hypothesis), CharacterNgrams(reference));
}

TEST(ChrF, IsOneForTheSameTextAndZeroForNothingShared) {
  EXPECT_DOUBLE_EQ(Score("Das ist ein Haus.", "Das ist ein Haus."), 1.0);
  EXPECT_DOUBLE_EQ(Score("abc", "xyz"), 0.0);
  EXPECT_DOUBLE_EQ(Score("", ""), 1.0);
  EXPECT_DOUBLE_EQ(Score("", "abc"), 0.0);
}

TEST(ChrF, IgnoresWhiteSpace) { EXPECT_DOUBLE_EQ(Score("a b  c", "abc"), 1.0); }

// By hand: of characters, 2 of 3 and 2 of 2 match; of pairs, 1 of 2 and 1 of 1.  Only one text has
// longer n-grams.
TEST(ChrF, IsTheFScoreOfTheMeanPrecisionAndRecall) {
  const double precision = (2.0 / 3 + 1.0 / 2) / 2;
  const double recall = 1.0;
  EXPECT_NEAR(Score("abc", "ab"), 5 * precision * recall / (4 * precision + recall), 1e-12);
}

TEST(ChrF, CountsMultibyteCharactersOnce) {
  EXPECT_DOUBLE_EQ(Score("ä", "ö"), 0.0);  // which have a byte in common
  EXPECT_DOUBLE_EQ(Score("äö", "äö"), 1.0);
}

TEST(Consensus, PutsTheTextFirstThatIsMostLikeTheOthers) {
  const std::vector<std::string> texts = {"xylophon qu", "a cat sleeps here", "the cat sleeps",
                                          "the cat sleeps here"};
  EXPECT_EQ(OrderByConsensus(texts).front(), 3);
  EXPECT_EQ(OrderByConsensus(texts).back(), 0);
}

TEST(Consensus, KeepsTheOrderOfEqualTexts) {
  EXPECT_THAT(OrderByConsensus({"a", "a", "a"}), ElementsAre(0, 1, 2));
  EXPECT_THAT(OrderByConsensus({}), ElementsAre());
}

}  // namespace
}  // namespace dragoman::chrf_test
