#include "engine/search/beam.h"

#include <cmath>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/search/whole_search.h"

namespace dragoman::beam_test {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int32_t kEos = 0;

WholeSearch Options(int beam_size, int max_length) {
  WholeSearch options;
  options.beam_size = beam_size;
  options.num_hypotheses = beam_size;
  options.max_length = max_length;
  options.eos_id = kEos;
  options.decoder_start_id = 99;
  return options;
}

std::vector<std::vector<int32_t>> LiveTokens(const Beam& beam) {
  std::vector<std::vector<int32_t>> tokens;
  for (const LiveHypothesis& live : beam.live()) tokens.push_back(live.tokens);
  return tokens;
}

std::vector<std::vector<int32_t>> BestTokens(const Beam& beam, int n) {
  std::vector<std::vector<int32_t>> tokens;
  for (const Hypothesis& hypothesis : beam.Best(n)) tokens.push_back(hypothesis.tokens);
  return tokens;
}

TEST(Beam, BeginsWithOneHypothesisWithoutTokens) {
  Beam beam(TaskOf(Options(3, 10)));
  EXPECT_FALSE(beam.done());
  EXPECT_EQ(beam.length(), 0);
  EXPECT_EQ(beam.candidates_per_row(), 6);
  ASSERT_THAT(beam.live(), SizeIs(1));
  EXPECT_THAT(beam.live()[0].tokens, IsEmpty());
  EXPECT_EQ(beam.live()[0].log_prob, 0.0f);
}

TEST(Beam, GreedyFollowsTheBestTokenAndEndsAtTheFirstEos) {
  Beam beam(TaskOf(Options(1, 10)));
  EXPECT_EQ(beam.candidates_per_row(), 1);
  beam.Advance({{0, 7, -0.5f}});
  beam.Advance({{0, 8, -0.25f}});
  EXPECT_THAT(LiveTokens(beam), ElementsAre(ElementsAre(7, 8)));
  beam.Advance({{0, kEos, -0.25f}});
  ASSERT_TRUE(beam.done());
  EXPECT_THAT(beam.live(), IsEmpty());
  ASSERT_THAT(beam.Best(1), SizeIs(1));
  const Hypothesis best = beam.Best(1)[0];
  EXPECT_THAT(best.tokens, ElementsAre(7, 8));
  EXPECT_THAT(best.token_log_probs, ElementsAre(-0.5f, -0.25f, -0.25f));
  EXPECT_EQ(best.log_prob, -1.0f);
  EXPECT_THAT(best.score, FloatEq(-1.0f / 3));
  EXPECT_EQ(best.finish_reason, FinishReason::kEos);
}

TEST(Beam, GreedyLooksAtTheBestCandidateAlone) {
  Beam beam(TaskOf(Options(1, 10)));
  beam.Advance({{0, 7, -0.9f}, {0, kEos, -0.5f}});
  EXPECT_TRUE(beam.done());
  EXPECT_THAT(BestTokens(beam, 1), ElementsAre(IsEmpty()));
}

TEST(Beam, GreedyIsCutAtMaxLength) {
  Beam beam(TaskOf(Options(1, 2)));
  beam.Advance({{0, 7, -0.5f}});
  beam.Advance({{0, 8, -0.5f}});
  ASSERT_TRUE(beam.done());
  const Hypothesis best = beam.Best(1)[0];
  EXPECT_THAT(best.tokens, ElementsAre(7, 8));
  EXPECT_EQ(best.score, -0.5f);
  EXPECT_EQ(best.finish_reason, FinishReason::kMaxLength);
}

TEST(Beam, KeepsTheBestContinuationsOfAllRowsInOrder) {
  Beam beam(TaskOf(Options(2, 10)));
  beam.Advance({{0, 1, -1.0f}, {0, 2, -0.5f}, {0, 3, -2.0f}});
  EXPECT_THAT(LiveTokens(beam), ElementsAre(ElementsAre(2), ElementsAre(1)));
  beam.Advance({{1, 4, -0.1f}, {1, 5, -0.2f}, {0, 6, -3.0f}});
  EXPECT_THAT(LiveTokens(beam), ElementsAre(ElementsAre(1, 4), ElementsAre(1, 5)));
  EXPECT_EQ(beam.live()[0].parent, 1);
  EXPECT_EQ(beam.live()[1].parent, 1);
  EXPECT_THAT(beam.live()[0].log_prob, FloatEq(-1.1f));
  EXPECT_EQ(beam.length(), 2);
}

TEST(Beam, TiesGoToTheLowerParentThenTheLowerToken) {
  Beam beam(TaskOf(Options(2, 10)));
  beam.Advance({{0, 9, -1.0f}, {0, 4, -1.0f}, {0, 6, -1.0f}});
  EXPECT_THAT(LiveTokens(beam), ElementsAre(ElementsAre(4), ElementsAre(6)));
  beam.Advance({{1, 2, -1.0f}, {0, 8, -1.0f}, {0, 7, -1.0f}});
  EXPECT_THAT(LiveTokens(beam), ElementsAre(ElementsAre(4, 7), ElementsAre(4, 8)));
}

TEST(Beam, TheOrderOfTheCandidatesDoesNotMatter) {
  Beam forwards(TaskOf(Options(2, 10)));
  Beam backwards(TaskOf(Options(2, 10)));
  forwards.Advance({{0, 1, -1.0f}, {0, 2, -1.0f}, {0, kEos, -1.0f}, {0, 3, -2.0f}});
  backwards.Advance({{0, 3, -2.0f}, {0, kEos, -1.0f}, {0, 2, -1.0f}, {0, 1, -1.0f}});
  EXPECT_EQ(LiveTokens(forwards), LiveTokens(backwards));
}

TEST(Beam, AnEosBelowTheFirstBeamSizeIsDropped) {
  Beam beam(TaskOf(Options(2, 2)));
  beam.Advance({{0, 1, -0.1f}, {0, 2, -0.2f}, {0, kEos, -0.3f}, {0, 3, -0.4f}});
  EXPECT_THAT(LiveTokens(beam), ElementsAre(ElementsAre(1), ElementsAre(2)));
  // Both end with lower scores than eos would have had in the first step.
  beam.Advance({{0, kEos, -1.0f}, {1, kEos, -1.0f}});
  ASSERT_TRUE(beam.done());
  EXPECT_THAT(BestTokens(beam, 2), ElementsAre(ElementsAre(1), ElementsAre(2)));
}

TEST(Beam, AFinishedHypothesisLeavesItsPlaceToTheNext) {
  Beam beam(TaskOf(Options(2, 10)));
  beam.Advance({{0, kEos, -0.1f}, {0, 1, -0.2f}, {0, 2, -0.3f}, {0, 3, -0.4f}});
  EXPECT_FALSE(beam.done());
  EXPECT_THAT(LiveTokens(beam), ElementsAre(ElementsAre(1), ElementsAre(2)));
}

// A beam of 2 after two steps: there are two finished hypotheses with a score of -1 (with
// length_penalty 1), and the best open one has the log-probability `open`.
Beam WithTwoFinished(EarlyStopping early_stopping, float length_penalty, float open) {
  WholeSearch options = Options(2, 10);
  options.early_stopping = early_stopping;
  options.length_penalty = length_penalty;
  Beam beam(TaskOf(options));
  beam.Advance({{0, kEos, -1.0f}, {0, 1, -1.5f}});
  EXPECT_FALSE(beam.done());
  beam.Advance({{0, kEos, -0.5f}, {0, 5, open + 1.5f}});
  return beam;
}

TEST(Beam, FullStopsAsSoonAsBeamSizeAreFinished) {
  EXPECT_TRUE(WithTwoFinished(EarlyStopping::kFull, 1.0f, -1.5f).done());
}

TEST(Beam, HeuristicStopsWhenTheBestOpenOneAsLongAsItIsCannotEnter) {
  EXPECT_FALSE(WithTwoFinished(EarlyStopping::kHeuristic, 1.0f, -1.75f).done());
  EXPECT_TRUE(WithTwoFinished(EarlyStopping::kHeuristic, 1.0f, -2.25f).done());
}

TEST(Beam, HeuristicStopsAtAnEqualScore) {
  EXPECT_TRUE(WithTwoFinished(EarlyStopping::kHeuristic, 1.0f, -2.0f).done());
}

TEST(Beam, NeverAsksWhatTheOpenOneCouldReachAtMaxLength) {
  // -2.5 is -0.25 at length 10, and -12 is -1.2.
  EXPECT_FALSE(WithTwoFinished(EarlyStopping::kNever, 1.0f, -2.5f).done());
  EXPECT_TRUE(WithTwoFinished(EarlyStopping::kNever, 1.0f, -12.0f).done());
}

TEST(Beam, NeverTakesTheLengthAsItIsUnlessThePenaltyFavoursLongOnes) {
  // The worst finished score is -2 * sqrt(2).
  EXPECT_FALSE(WithTwoFinished(EarlyStopping::kNever, -0.5f, -1.75f).done());
  EXPECT_TRUE(WithTwoFinished(EarlyStopping::kNever, -0.5f, -2.5f).done());
}

TEST(Beam, ScoresDivideByTheLengthInclEosToThePowerOfThePenalty) {
  for (const float penalty : {-0.5f, 0.0f, 0.6f, 1.0f, 2.0f}) {
    WholeSearch options = Options(1, 10);
    options.length_penalty = penalty;
    Beam beam(TaskOf(options));
    beam.Advance({{0, 1, -1.0f}});
    beam.Advance({{0, 2, -1.0f}});
    beam.Advance({{0, kEos, -1.0f}});
    EXPECT_THAT(beam.Best(1)[0].score, FloatEq(-3.0f / std::pow(3.0f, penalty))) << penalty;
  }
}

TEST(Beam, ABetterHypothesisPushesTheWorstFinishedOneOut) {
  WholeSearch options = Options(2, 3);
  options.early_stopping = EarlyStopping::kNever;
  Beam beam(TaskOf(options));
  beam.Advance({{0, kEos, -2.0f}, {0, 1, -2.1f}, {0, 2, -2.2f}});
  beam.Advance({{0, kEos, -0.1f}, {1, 3, -0.1f}, {0, 4, -0.3f}});
  ASSERT_FALSE(beam.done());
  beam.Advance({{0, kEos, -0.1f}, {1, kEos, -0.1f}});
  ASSERT_TRUE(beam.done());
  const std::vector<Hypothesis> best = beam.Best(2);
  EXPECT_THAT(BestTokens(beam, 2), ElementsAre(ElementsAre(2, 3), ElementsAre(1, 4)));
  EXPECT_GT(best[0].score, best[1].score);
}

TEST(Beam, AnEqualScoreThatWasThereBeforeStaysBefore) {
  WholeSearch options = Options(2, 10);
  options.length_penalty = 0.0f;
  options.early_stopping = EarlyStopping::kFull;
  Beam beam(TaskOf(options));
  beam.Advance({{0, kEos, -1.0f}, {0, 1, -1.0f}});
  beam.Advance({{0, kEos, 0.0f}});
  ASSERT_TRUE(beam.done());
  EXPECT_THAT(BestTokens(beam, 2), ElementsAre(IsEmpty(), ElementsAre(1)));
}

TEST(Beam, AtMaxLengthTheBestOpenOnesFinishAsTheyAre) {
  Beam beam(TaskOf(Options(2, 2)));
  beam.Advance({{0, 1, -0.1f}, {0, 2, -0.2f}});
  beam.Advance({{0, 3, -0.1f}, {1, kEos, -0.2f}, {0, 4, -0.5f}, {1, 5, -0.6f}});
  ASSERT_TRUE(beam.done());
  const std::vector<Hypothesis> best = beam.Best(9);
  ASSERT_THAT(best, SizeIs(2));
  EXPECT_THAT(best[0].tokens, ElementsAre(1, 3));
  EXPECT_EQ(best[0].finish_reason, FinishReason::kMaxLength);
  EXPECT_THAT(best[1].tokens, ElementsAre(2));
  EXPECT_EQ(best[1].finish_reason, FinishReason::kEos);
  EXPECT_THAT(best[1].token_log_probs, SizeIs(2));
}

TEST(Beam, AnEosForcedAtMaxLengthSaysMaxLength) {
  WholeSearch options = Options(2, 2);
  options.forced_eos_id = kEos;
  Beam beam(TaskOf(options));
  beam.Advance({{0, 1, -0.1f}, {0, 2, -0.2f}});
  beam.Advance({{0, kEos, 0.0f}, {1, kEos, 0.0f}});
  ASSERT_TRUE(beam.done());
  const std::vector<Hypothesis> best = beam.Best(2);
  ASSERT_THAT(best, SizeIs(2));
  EXPECT_THAT(best[0].tokens, ElementsAre(1));
  EXPECT_THAT(best[0].token_log_probs, ElementsAre(-0.1f, 0.0f));
  EXPECT_THAT(best[0].score, FloatEq(-0.05f));
  EXPECT_EQ(best[0].finish_reason, FinishReason::kMaxLength);
  EXPECT_EQ(best[1].finish_reason, FinishReason::kMaxLength);
}

TEST(Beam, AnEosOfItsOwnBeforeMaxLengthSaysEosThoughOneWouldBeForced) {
  WholeSearch options = Options(1, 3);
  options.forced_eos_id = kEos;
  Beam beam(TaskOf(options));
  beam.Advance({{0, 1, -0.1f}});
  beam.Advance({{0, kEos, -0.1f}});
  EXPECT_EQ(beam.Best(1)[0].finish_reason, FinishReason::kEos);
}

TEST(Beam, NothingLeftEndsTheSearchWithWhatIsFinished) {
  const float inf = std::numeric_limits<float>::infinity();
  Beam beam(TaskOf(Options(2, 10)));
  beam.Advance({{0, kEos, -0.1f}, {0, 1, -0.2f}});
  beam.Advance({{0, 2, -inf}, {0, 3, std::nanf("")}});
  ASSERT_TRUE(beam.done());
  EXPECT_THAT(BestTokens(beam, 2), ElementsAre(IsEmpty()));

  Beam empty(TaskOf(Options(2, 10)));
  empty.Advance({});
  EXPECT_TRUE(empty.done());
  EXPECT_THAT(empty.Best(2), IsEmpty());
}

TEST(Beam, BestGivesAsManyAsAskedFor) {
  Beam beam(TaskOf(Options(3, 1)));
  beam.Advance({{0, 1, -0.1f}, {0, 2, -0.2f}, {0, 3, -0.3f}, {0, 4, -0.4f}});
  ASSERT_TRUE(beam.done());
  EXPECT_THAT(BestTokens(beam, 0), IsEmpty());
  EXPECT_THAT(BestTokens(beam, 2), ElementsAre(ElementsAre(1), ElementsAre(2)));
  EXPECT_THAT(BestTokens(beam, 9), SizeIs(3));
}

TEST(BeamDeathTest, NothingIsScoredOnceTheSearchHasStopped) {
  Beam beam(TaskOf(Options(1, 1)));
  beam.Advance({{0, kEos, -1.0f}});
  ASSERT_TRUE(beam.done());
  EXPECT_DEATH(beam.Advance({{0, kEos, -0.1f}}), "check failed");
}

}  // namespace
}  // namespace dragoman::beam_test
