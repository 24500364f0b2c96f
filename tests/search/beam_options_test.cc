// What length normalization, coverage, patience and forbidden tokens change in a beam search.

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/search/search.h"
#include "gtest/gtest.h"
#include "tests/search/found.h"

namespace dragoman::beam_options_test {
namespace {

TEST(Beam, GnmtDividesByFivePlusTheLengthOverSix) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const RandomLanguage language(seed, 6);
    SearchTask task = TaskOf(Options(3, 6));
    task.options.length_normalization = LengthNormalization::kGnmt;
    task.options.length_penalty = 0.8f;
    for (const Hypothesis& hypothesis : Found(language, task)) {
      const double length = static_cast<double>(hypothesis.token_log_probs.size());
      EXPECT_NEAR(hypothesis.score, hypothesis.log_prob / std::pow((5 + length) / 6, 0.8), 1e-5);
    }
  }
}

// What costs all hypotheses the same makes no difference: not in what is found, nor in when the
// search has found enough.
TEST(Beam, CoverageCountsForLiveHypothesesAsForFinishedOnes) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const RandomLanguage language(seed, 6);
    SearchTask task = TaskOf(Options(3, 12));
    if (seed % 2 == 0) task.phrases = {Phrase{{{2}}}};
    const std::vector<Hypothesis> plain = Found(language, task);
    task.options.coverage_penalty = 0.5f;
    task.coverage = [](int) { return -2.0f; };
    const std::vector<Hypothesis> covered = Found(language, task);
    ASSERT_EQ(covered.size(), plain.size());
    for (size_t i = 0; i < plain.size(); ++i) {
      EXPECT_EQ(covered[i].tokens, plain[i].tokens);
      EXPECT_FLOAT_EQ(covered[i].score, plain[i].score - 1.0f);
    }
  }
}

TEST(Beam, PatienceWaitsForMoreHypotheses) {
  int longer = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const RandomLanguage language(seed, 6);
    SearchTask task = TaskOf(Options(2, 10));
    task.options.num_hypotheses = 6;
    task.options.early_stopping = EarlyStopping::kFull;
    const size_t plain = Found(language, task).size();
    task.options.patience = 3.0f;
    const size_t patient = Found(language, task).size();
    EXPECT_LE(plain, 2u);
    EXPECT_LE(patient, 6u);
    EXPECT_GE(patient, plain);
    longer += patient > plain ? 1 : 0;
  }
  EXPECT_GT(longer, 25);
}

TEST(Beam, NeverWritesTheUnknownTokenIfThatIsForbidden) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    const RandomLanguage language(seed, 5);
    WholeSearch options = Options(3, 6);
    options.unknown_id = 2;
    options.disable_unk = true;
    for (const Hypothesis& hypothesis : Found(language, TaskOf(options))) {
      EXPECT_EQ(std::count(hypothesis.tokens.begin(), hypothesis.tokens.end(), 2), 0);
    }
  }
}

}  // namespace
}  // namespace dragoman::beam_options_test
