// Sampling: what is drawn follows the exact distribution, by chi-square tests with fixed seeds.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "engine/search/row_sampler.h"
#include "engine/search/search.h"
#include "gtest/gtest.h"
#include "tests/search/found.h"

namespace dragoman::sampler_test {
namespace {

// The chi-square statistic of the first tokens of `draws` samples, against the exact distribution.
double ChiSquare(const std::vector<int>& counts, const std::vector<double>& p, int draws,
                 int* degrees) {
  double statistic = 0.0;
  *degrees = -1;
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i] <= 0.0) {
      EXPECT_EQ(counts[i], 0) << i;
      continue;
    }
    const double expected = p[i] * draws;
    statistic += (counts[i] - expected) * (counts[i] - expected) / expected;
    ++*degrees;
  }
  return statistic;
}

// Far beyond the 1 - 1e-6 quantile of the chi-square distribution, by the approximation of Wilson
// and Hilferty.
double Bound(int degrees) {
  const double k = std::max(1, degrees);
  const double z = 4.75;
  const double root = 1.0 - 2.0 / (9.0 * k) + z * std::sqrt(2.0 / (9.0 * k));
  return k * root * root * root;
}

std::vector<double> Filtered(std::vector<double> p, const SearchOptions& options) {
  const auto renormalize = [&p] {
    double sum = 0.0;
    for (const double x : p) sum += x;
    for (double& x : p) x /= sum;
  };
  std::vector<size_t> order(p.size());
  for (size_t i = 0; i < p.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p[a] > p[b]; });
  if (options.sampling_top_k > 0) {
    for (size_t i = options.sampling_top_k; i < order.size(); ++i) p[order[i]] = 0.0;
    renormalize();
  }
  if (options.sampling_top_p < 1.0f) {
    double sum = 0.0;
    for (const size_t i : order) {
      const bool kept = sum < options.sampling_top_p;
      sum += p[i];
      if (!kept) p[i] = 0.0;
    }
    renormalize();
  }
  if (options.sampling_min_p > 0.0f) {
    const double most = p[order[0]];
    for (double& x : p) x = x >= options.sampling_min_p * most ? x : 0.0;
    renormalize();
  }
  if (options.sampling_typical_p < 1.0f) {
    double expected = 0.0;
    for (const double x : p) expected -= x > 0.0 ? x * std::log(x) : 0.0;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::abs(-std::log(p[a]) - expected) < std::abs(-std::log(p[b]) - expected);
    });
    double sum = 0.0;
    for (const size_t i : order) {
      const bool kept = sum < options.sampling_typical_p;
      sum += p[i];
      if (!kept) p[i] = 0.0;
    }
    renormalize();
  }
  if (options.sampling_epsilon > 0.0f) {
    const double most = *std::max_element(p.begin(), p.end());
    for (double& x : p) x = x >= options.sampling_epsilon || x == most ? x : 0.0;
    renormalize();
  }
  return p;
}

TEST(Sampler, DrawsFromTheDistributionOfTheModel) {
  constexpr int kDraws = 4000;
  constexpr int kVocabulary = 150;  // several tiles of the row
  for (int setting = 0; setting < 10; ++setting) {
    SCOPED_TRACE(setting);
    const RandomLanguage language(11 + setting, kVocabulary);
    SearchTask task = TaskOf(Options(1, 1));
    task.options.sampling = true;
    if (setting == 1) task.options.sampling_temperature = 0.5f;
    if (setting == 2) task.options.sampling_top_k = 7;
    if (setting == 3) task.options.sampling_top_p = 0.8f;
    if (setting == 4) task.options.sampling_min_p = 0.1f;
    if (setting == 5) task.options.sampling_epsilon = 0.008f;
    if (setting == 6) {
      task.options.sampling_temperature = 1.5f;
      task.options.sampling_top_k = 40;
      task.options.sampling_top_p = 0.9f;
      task.options.sampling_min_p = 0.05f;
    }
    if (setting == 7) task.options.sampling_temperature = 3.0f;
    if (setting >= 8) task.options.sampling_typical_p = 0.6f;
    if (setting == 9) task.options.sampling_top_k = 30;
    std::vector<int> counts(kVocabulary, 0);
    for (int draw = 0; draw < kDraws; ++draw) {
      task.random_key = MixKey(123, draw);
      const std::vector<Hypothesis> drawn = Found(language, task);
      ASSERT_EQ(drawn.size(), 1u);
      ++counts[drawn[0].tokens.empty() ? kEos : drawn[0].tokens[0]];
    }
    const std::vector<double> p =
        Filtered(Softmax(language.Logits({}), task.options.sampling_temperature), task.options);
    int degrees = 0;
    const double statistic = ChiSquare(counts, p, kDraws, &degrees);
    EXPECT_LT(statistic, Bound(degrees)) << degrees << " degrees of freedom";
  }
}

TEST(Sampler, DrawsWholeTranslationsWithTheirProbabilities) {
  constexpr int kDraws = 10000;
  const RandomLanguage language(5, 3);
  std::map<std::vector<int32_t>, int> counts;
  SearchTask task = TaskOf(Options(1, 3));
  task.options.sampling = true;
  for (int draw = 0; draw < kDraws; ++draw) {
    task.random_key = MixKey(7, draw);
    const Hypothesis hypothesis = Found(language, task)[0];
    std::vector<int32_t> tokens = hypothesis.tokens;
    if (hypothesis.token_log_probs.size() > tokens.size()) tokens.push_back(kEos);
    ++counts[tokens];
    EXPECT_NEAR(hypothesis.log_prob, std::log(language.Probability(tokens)), 1e-4);
  }
  double statistic = 0.0;
  for (const auto& [tokens, count] : counts) {
    const double expected = language.Probability(tokens) * kDraws;
    statistic += (count - expected) * (count - expected) / expected;
  }
  EXPECT_LT(statistic, Bound(static_cast<int>(counts.size()) - 1));
}

TEST(Sampler, HypothesesAreDrawnApartAndTheSameKeyDrawsTheSame) {
  const RandomLanguage language(3, 20);
  SearchTask task = TaskOf(Options(4, 12));
  task.options.sampling = true;
  task.random_key = 99;
  const std::vector<Hypothesis> once = Found(language, task), again = Found(language, task);
  ASSERT_EQ(once.size(), 4u);
  std::set<std::vector<int32_t>> distinct;
  for (size_t i = 0; i < once.size(); ++i) {
    EXPECT_EQ(once[i].tokens, again[i].tokens);
    distinct.insert(once[i].tokens);
    if (i > 0) {
      EXPECT_GE(once[i - 1].score, once[i].score);
    }
  }
  EXPECT_GT(distinct.size(), 1u);
  task.random_key = 100;
  EXPECT_NE(Found(language, task)[0].tokens, once[0].tokens);
}

// A filter must not depend on the previous row.
TEST(RowSampler, EveryRowIsFilteredByItself) {
  for (const int top_k : {0, 1}) {
    SearchOptions options;
    options.sampling_top_p = 0.5f;
    options.sampling_top_k = top_k;
    RowSampler sampler;
    const std::vector<float> first = {0.0f, 9.0f, 0.0f}, second = {9.0f, 0.0f, 0.0f};
    for (const auto& [row, likeliest] : {std::pair(first, 1u), {second, 0u}}) {
      sampler.Start(options, /*draws=*/3, /*key=*/5);
      sampler.Append(row);
      ASSERT_TRUE(sampler.Prepare());
      for (int draw = 0; draw < 3; ++draw) EXPECT_EQ(sampler.Draw(draw).position, likeliest);
    }
  }
}

// However a row is split into tiles, and whichever logits are set afterwards, a number selects the
// token in whose part of the total probability it falls.
TEST(RowSampler, ANumberFallsOnItsPartOfTheMass) {
  constexpr uint64_t kKey = 77;
  constexpr int kDraws = 2000;
  for (const float temperature : {1.0f, 0.5f}) {
    std::mt19937 random(3);
    std::normal_distribution<float> normal(0.0f, 3.0f);
    std::vector<float> row(1100);
    for (float& logit : row) logit = normal(random);
    std::vector<float> given = row;
    for (const size_t place : {0, 511, 512, 700, 1099}) {
      given[place] = -std::numeric_limits<float>::infinity();
    }
    SearchOptions options;
    options.sampling_temperature = temperature;
    RowSampler sampler;
    sampler.Start(options, kDraws, kKey);
    const auto tile = absl::MakeConstSpan(given);
    sampler.Append(tile.subspan(0, 512));
    sampler.Append(tile.subspan(512, 512));
    sampler.Append(tile.subspan(1024));
    row[700] = 20.0f;  // more than any other of its tile
    for (const size_t place : {0, 511, 512, 700, 1099}) sampler.Set(place, row[place]);
    ASSERT_TRUE(sampler.Prepare());
    std::vector<double> sums = {0.0};
    for (const float logit : row) {
      sums.push_back(sums.back() + std::exp(static_cast<double>(logit) / temperature));
    }
    for (int draw = 0; draw < kDraws; ++draw) {
      const double uniform = static_cast<double>(RandomBits(kKey, draw) >> 11) * 0x1p-53;
      const auto [token, logit] = sampler.Draw(draw);
      EXPECT_EQ(logit, row[token]);
      EXPECT_GE(uniform * sums.back(), sums[token] - 1e-6 * sums.back()) << uniform;
      EXPECT_LE(uniform * sums.back(), sums[token + 1] + 1e-6 * sums.back()) << uniform;
    }
  }
}

// One draw from a row whose tiles are dropped when the next one comes.
TEST(RowSampler, OneDrawOfTilesThatAreNotKeptFollowsTheDistribution) {
  constexpr int kDraws = 20000;
  struct Setting {
    float temperature = 1.0f;
    int top_k = 0;
    float top_p = 1.0f, min_p = 0.0f;
  };
  for (const Setting& setting : {Setting{},
                                 {0.5f},
                                 {3.0f},
                                 {1.0f, 5},
                                 {2.0f, 12},
                                 {1.0f, 0, 0.9f},
                                 {2.0f, 0, 0.7f, 0.02f},
                                 {1.0f, 0, 0.05f},
                                 {1.0f, 0, 1e-6f}}) {
    const auto& [temperature, top_k, top_p, min_p] = setting;
    SCOPED_TRACE(testing::Message() << "temperature " << temperature << ", top_k " << top_k
                                    << ", top_p " << top_p << ", min_p " << min_p);
    std::mt19937 random(9);
    std::normal_distribution<float> normal(0.0f, 1.5f);
    std::vector<float> row(200);
    for (float& logit : row) logit = normal(random);
    for (size_t i = 150; i < 165; ++i) row[i] = -kInfinity;  // a tile without any probability
    std::vector<float> given = row;
    given[3] = given[199] = -kInfinity;  // these are set afterwards
    row[60] = std::numeric_limits<float>::quiet_NaN();
    given[60] = row[60];
    SearchOptions options;
    options.sampling_temperature = temperature;
    options.sampling_top_k = top_k;
    options.sampling_top_p = top_p;
    options.sampling_min_p = min_p;
    std::vector<double> p(row.size());
    double sum = 0.0;
    for (size_t i = 0; i < row.size(); ++i) {
      p[i] = i == 60 ? 0.0 : std::exp(static_cast<double>(row[i]) / temperature);
      sum += p[i];
    }
    for (double& x : p) x /= sum;
    p = Filtered(p, options);
    RowSampler sampler;
    std::vector<int> counts(row.size(), 0);
    for (int draw = 0; draw < kDraws; ++draw) {
      sampler.Start(options, /*draws=*/1, MixKey(31, draw));
      for (size_t begin = 0; begin < row.size(); begin += 15) {
        sampler.Append(absl::MakeConstSpan(given).subspan(begin, 15));
      }
      sampler.Set(3, row[3]);
      sampler.Set(199, row[199]);
      ASSERT_TRUE(sampler.Prepare());
      const auto [token, logit] = sampler.Draw(0);
      EXPECT_EQ(logit, row[token]);
      ++counts[token];
    }
    int degrees = 0;
    const double statistic = ChiSquare(counts, p, kDraws, &degrees);
    EXPECT_LT(statistic, Bound(degrees)) << degrees << " degrees of freedom";
  }
}

}  // namespace
}  // namespace dragoman::sampler_test
