// Searches whose beginning is given: forced decoding, prefixes, and alternatives after a prefix.

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/search/search.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/search/found.h"

namespace dragoman::prefix_test {
namespace {

using ::testing::ElementsAre;

TEST(Forced, GivesTheModelsLogProbabilityOfEveryTokenAndTheEnd) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const RandomLanguage language(seed, 7);
    SearchTask task = TaskOf(Options(1, 20));
    task.options.repetition_penalty = 2.0f;  // no processor changes a score
    task.options.min_length = 10;
    task.score_prefix = true;
    for (uint64_t i = 0; i < seed % 6; ++i) task.prefix.push_back(1 + (seed * 3 + i) % 6);
    const std::vector<Hypothesis> scored = Found(language, task);
    ASSERT_EQ(scored.size(), 1u);
    ASSERT_EQ(scored[0].tokens, task.prefix);
    ASSERT_EQ(scored[0].token_log_probs.size(), task.prefix.size() + 1);
    std::vector<int32_t> tokens;
    double sum = 0.0;
    for (size_t i = 0; i <= task.prefix.size(); ++i) {
      const int32_t next = i < task.prefix.size() ? task.prefix[i] : kEos;
      const double log_prob = std::log(Softmax(language.Logits(tokens))[next]);
      EXPECT_NEAR(scored[0].token_log_probs[i], log_prob, 1e-5);
      sum += log_prob;
      tokens.push_back(next);
    }
    EXPECT_NEAR(scored[0].log_prob, sum, 1e-4);
  }
}

TEST(Prefix, IsTheBeginningOfEveryHypothesisAndCountsForNoScore) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const RandomLanguage language(seed, 6);
    SearchTask task = TaskOf(Options(1 + static_cast<int>(seed % 4), 8));
    task.prefix = {2, 3, 4};
    for (const Hypothesis& hypothesis : Found(language, task)) {
      ASSERT_GE(hypothesis.tokens.size(), 3u);
      EXPECT_TRUE(std::equal(task.prefix.begin(), task.prefix.end(), hypothesis.tokens.begin()));
      float sum = 0.0f;
      for (size_t i = 0; i < hypothesis.token_log_probs.size(); ++i) {
        if (i < 3) {
          EXPECT_EQ(hypothesis.token_log_probs[i], 0.0f);
        }
        sum += hypothesis.token_log_probs[i];
      }
      EXPECT_FLOAT_EQ(hypothesis.log_prob, sum);
      EXPECT_FLOAT_EQ(hypothesis.score,
                      sum / static_cast<float>(hypothesis.token_log_probs.size() - 3));
    }
  }
}

// A language after a prefix is itself a language: the search must find the same in both.
TEST(Prefix, IsAsIfTheLanguageBeganThere) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const RandomLanguage language(seed, 6);
    SearchTask task = TaskOf(Options(3, 9));
    task.prefix = {5, 1};
    const std::vector<Hypothesis> have = Found(language, task);
    SearchTask rest = TaskOf(Options(3, 7));
    const std::vector<Hypothesis> want = Found(language.After({5, 1}), rest);
    ASSERT_EQ(have.size(), want.size());
    for (size_t i = 0; i < have.size(); ++i) {
      std::vector<int32_t> tokens = {5, 1};
      tokens.insert(tokens.end(), want[i].tokens.begin(), want[i].tokens.end());
      EXPECT_EQ(have[i].tokens, tokens);
      EXPECT_FLOAT_EQ(have[i].score, want[i].score);
    }
  }
}

TEST(Alternatives, BeginWithTheLikeliestTokensAndGoOnAsABeamDoes) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const RandomLanguage language(seed, 9);
    SearchTask task = TaskOf(Options(2, 7));
    task.options.num_hypotheses = 4;
    task.options.return_alternatives = true;
    task.prefix = {3};
    const std::vector<Hypothesis> found = Found(language, task);
    ASSERT_EQ(found.size(), 4u);
    const std::vector<float> first = language.Logits({3});
    std::vector<int32_t> order = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    std::stable_sort(order.begin(), order.end(),
                     [&](int32_t a, int32_t b) { return first[a] > first[b]; });
    for (size_t i = 0; i < 4; ++i) {
      if (order[i] == kEos) {
        EXPECT_THAT(found[i].tokens, ElementsAre(3));
        continue;
      }
      ASSERT_EQ(found[i].tokens[1], order[i]);
      SearchTask rest = TaskOf(Options(2, 7));
      rest.prefix = {3, order[i]};
      rest.options.length_penalty = task.options.length_penalty = 1.0f;
      // The log-probability of the first token shifts all hypotheses alike, apart from the effect
      // of the length; so compare with length penalty 0.
      SearchTask plain = task;
      plain.options.length_penalty = rest.options.length_penalty = 0.0f;
      EXPECT_EQ(Found(language, plain)[i].tokens, Found(language, rest)[0].tokens);
    }
  }
}

TEST(Alternatives, TheUnlikelyAreLeftOut) {
  const RandomLanguage language(4, 9);
  SearchTask task = TaskOf(Options(2, 6));
  task.options.num_hypotheses = 8;
  task.options.return_alternatives = true;
  task.options.min_alternative_probability = 0.15f;
  const std::vector<double> p = Softmax(language.Logits({}));
  const auto likely = std::count_if(p.begin(), p.end(), [](double x) { return x >= 0.15; });
  EXPECT_EQ(Found(language, task).size(), static_cast<size_t>(std::max<long>(1, likely)));
}

}  // namespace
}  // namespace dragoman::prefix_test
