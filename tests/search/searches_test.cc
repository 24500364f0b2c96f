// Every search except the plain beam, over random tables of conditional log-probabilities with tiny
// vocabularies: compared with enumeration, exact distributions and naive transcriptions.

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "engine/search/constrained_beam.h"
#include "engine/search/logits.h"
#include "engine/search/phrases.h"
#include "engine/search/runaway.h"
#include "engine/search/search.h"
#include "engine/text/word_joins.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/search/random_language.h"
#include "tests/search/whole_search.h"

namespace dragoman {
namespace {

using ::testing::ElementsAre;

constexpr int32_t kEos = 0;

WholeSearch Options(int beam_size, int max_length) {
  WholeSearch options;
  options.beam_size = options.num_hypotheses = beam_size;
  options.max_length = max_length;
  options.eos_id = kEos;
  options.decoder_start_id = 1;
  return options;
}

bool BeginsWith(absl::Span<const int32_t> tokens, absl::Span<const int32_t> beginning) {
  return tokens.size() >= beginning.size() &&
         std::equal(beginning.begin(), beginning.end(), tokens.begin());
}

// Runs a search to the end over the language, as DecodeBatch does with a network, and checks at
// each step that the stable prefix is kept.  Adds the length of the best hypothesis's last stable
// prefix to *promised.
std::vector<Hypothesis> Found(const RandomLanguage& language, const SearchTask& task,
                              size_t* promised = nullptr) {
  const std::unique_ptr<Search> search = MakeSearch(task);
  std::map<int, std::vector<int32_t>> stable = {{1, {}}, {task.options.num_hypotheses, {}}};
  size_t seen = 0;
  while (!search->done()) {
    std::vector<Candidate> candidates;
    for (size_t i = 0; i < search->live().size(); ++i) {
      const LiveHypothesis& live = search->live()[i];
      const size_t first = seen == 0 && search->ranks_prefix() ? 0 : live.tokens.size();
      for (size_t t = first; t <= live.tokens.size(); ++t) {
        const bool newest = t == live.tokens.size();
        const auto tokens = absl::MakeConstSpan(live.tokens).first(t);
        RowRanker ranker;
        ranker.Start({.options = &task.options,
                      .rules = task.rules.get(),
                      .tokens = tokens,
                      .parent = static_cast<int>(i),
                      .k = newest ? search->candidates_per_row() : 0,
                      .wanted = newest ? search->wanted(static_cast<int>(i))
                                       : absl::MakeConstSpan(live.tokens).subspan(t, 1),
                      .plain = task.score_prefix,
                      .random_key = MixKey(MixKey(task.random_key, t), live.draw)});
        std::vector<float> logits = language.Logits({tokens.begin(), tokens.end()});
        ranker.Add(0, absl::MakeSpan(logits));
        ranker.Finish(&candidates);
      }
    }
    seen = 1;
    EXPECT_LE(static_cast<int>(search->live().size()), MaxLive(task));
    search->Advance(candidates);
    for (auto& [n, tokens] : stable) {
      const absl::Span<const int32_t> now = search->StablePrefix(n);
      EXPECT_TRUE(BeginsWith(now, tokens)) << "taken back";
      tokens.assign(now.begin(), now.end());
    }
  }
  for (const auto& [n, tokens] : stable) {
    for (const Hypothesis& hypothesis : search->Best(n)) {
      EXPECT_TRUE(BeginsWith(hypothesis.tokens, tokens)) << "promised of the best " << n;
    }
    if (promised != nullptr && n == 1) *promised += tokens.size();
  }
  return search->Best(task.options.num_hypotheses);
}

std::vector<double> Softmax(const std::vector<float>& logits, double temperature = 1.0) {
  std::vector<double> p;
  double sum = 0.0;
  for (const float logit : logits) {
    p.push_back(std::exp(logit / temperature));
    sum += p.back();
  }
  for (double& x : p) x /= sum;
  return p;
}

// --- Forced decoding

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

// --- Stable prefix

// Found() does the checking.  Languages of few tokens repeat themselves, so the guard often cuts.
TEST(StablePrefix, IsKeptByEverySearchWithTheGuardAgainstRepetition) {
  const std::vector<std::function<void(SearchTask*)>> kinds = {
      [](SearchTask*) {},
      [](SearchTask* task) { task->options.length_penalty = 0.0f; },
      [](SearchTask* task) { task->options.length_penalty = -1.0f; },
      [](SearchTask* task) { task->options.early_stopping = EarlyStopping::kNever; },
      [](SearchTask* task) { task->options.patience = 2.0f; },
      [](SearchTask* task) {
        task->options.length_normalization = LengthNormalization::kGnmt;
        task->options.length_penalty = 0.6f;
      },
      [](SearchTask* task) { task->options.beam_groups = 2; },
      [](SearchTask* task) { task->options.sampling = true; },
      [](SearchTask* task) { task->options.return_alternatives = true; },
      [](SearchTask* task) {
        task->phrases = {{2, 3}, {1}};
      },
      [](SearchTask* task) {
        task->prefix = {2, 1};
      },
  };
  int cut = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    for (size_t kind = 0; kind < kinds.size(); ++kind) {
      const RandomLanguage random(seed, 5);
      const ConstantLanguage repeating({0.5f, 1.0f, 2.0f, 1.9f, 0.1f});
      const RandomLanguage& language = seed % 3 == 0 ? repeating : random;
      SearchTask task = TaskOf(Options(seed % 2 == 0 ? 4 : 2, 40));
      task.options.repetition_guard = true;
      task.source = {1, 2, 3, kEos};
      task.random_key = seed;
      kinds[kind](&task);
      SCOPED_TRACE(testing::Message() << "seed " << seed << " kind " << kind);
      for (const Hypothesis& hypothesis : Found(language, task)) {
        if (hypothesis.finish_reason == FinishReason::kRepetition) ++cut;
      }
    }
  }
  EXPECT_GT(cut, 100);
}

TEST(StablePrefix, OfAGreedySearchIsAllThatWasSaid) {
  size_t promised = 0, said = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    said += Found(RandomLanguage(seed, 9), TaskOf(Options(1, 12)), &promised)[0].tokens.size();
  }
  // Only the last token of a hypothesis that max_length ends was not promised.
  EXPECT_GT(promised, said * 9 / 10);
  EXPECT_LE(promised, said);
}

TEST(StablePrefix, OfABeamIsOftenSomethingBeforeTheEnd) {
  size_t promised = 0, said = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    said += Found(RandomLanguage(seed, 9), TaskOf(Options(4, 30)), &promised)[0].tokens.size();
  }
  EXPECT_GT(promised, said / 10);
}

// --- Prefix

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

// --- Sampler

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
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
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

// --- ShrinkingBeam

// Marian's search, transcribed from its description: finished hypotheses stay in the list.
std::vector<Hypothesis> MarianSearch(const RandomLanguage& language, const WholeSearch& options) {
  struct Item {
    std::vector<int32_t> tokens;  // with eos
    double sum = 0.0;
    bool ended = false;
  };
  std::vector<Item> beam = {{}};
  std::vector<Item> ended;
  while (true) {
    std::vector<Item> next;
    for (const Item& item : beam) {
      const std::vector<double> p = Softmax(language.Logits(item.tokens));
      for (size_t token = 0; token < p.size(); ++token) {
        Item child = item;
        child.tokens.push_back(static_cast<int32_t>(token));
        child.sum += std::log(p[token]);
        child.ended = token == kEos || static_cast<int>(child.tokens.size()) == options.max_length;
        next.push_back(child);
      }
    }
    std::stable_sort(next.begin(), next.end(),
                     [](const Item& a, const Item& b) { return a.sum > b.sum; });
    next.resize(std::min(next.size(), options.beam_size - ended.size()));
    beam.clear();
    for (const Item& item : next) (item.ended ? ended : beam).push_back(item);
    if (beam.empty()) break;
  }
  std::vector<Hypothesis> found;
  for (const Item& item : ended) {
    Hypothesis& hypothesis = found.emplace_back();
    const double length = static_cast<double>(item.tokens.size());
    hypothesis.score = static_cast<float>((item.sum - options.word_penalty * length) /
                                          std::pow(length, options.length_penalty));
    hypothesis.tokens = item.tokens;
    if (item.tokens.back() == kEos) hypothesis.tokens.pop_back();
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  return found;
}

TEST(ShrinkingBeam, FindsWhatMariansSearchFinds) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    const RandomLanguage language(seed, 6);
    WholeSearch options = Options(1 + static_cast<int>(seed % 5), 2 + static_cast<int>(seed % 7));
    options.shrinking_beam = true;
    options.length_penalty = static_cast<float>(seed % 3) * 0.5f;
    options.word_penalty = seed % 2 == 0 ? 0.3f : 0.0f;
    const std::vector<Hypothesis> have = Found(language, TaskOf(options));
    const std::vector<Hypothesis> want = MarianSearch(language, options);
    ASSERT_EQ(have.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) {
      EXPECT_NEAR(have[i].score, want[i].score, 1e-5);
      // Hypotheses with equal scores may come in any order.
      const bool tied = (i > 0 && want[i].score - want[i - 1].score > -1e-5) ||
                        (i + 1 < want.size() && want[i + 1].score - want[i].score > -1e-5);
      if (!tied) {
        EXPECT_EQ(have[i].tokens, want[i].tokens);
      }
    }
  }
}

TEST(ShrinkingBeam, AHypothesisThatEndedKeepsItsPlace) {
  // eos is the likeliest token, so one hypothesis ends in each step, until none is left.
  const ConstantLanguage language({2.0f, 1.0f, 0.0f});
  WholeSearch options = Options(3, 10);
  options.shrinking_beam = true;
  const std::vector<Hypothesis> found = Found(language, TaskOf(options));
  ASSERT_EQ(found.size(), 3u);
  EXPECT_THAT(found[0].tokens, ElementsAre());
}

// --- Alternatives

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

// --- Diverse groups

// The first steps of groups of one hypothesis each, written down.
TEST(DiverseBeam, ATokenOfAnEarlierGroupCostsThePenalty) {
  for (uint64_t seed = 1; seed <= 80; ++seed) {
    SCOPED_TRACE(seed);
    const RandomLanguage language(seed, 8);
    SearchTask task = TaskOf(Options(4, 5));
    task.options.beam_groups = 4;
    task.options.diversity_penalty = 0.7f;
    task.options.length_penalty = 0.0f;
    std::vector<std::vector<int32_t>> tokens(4);
    std::vector<double> sums(4, 0.0);
    std::vector<bool> ended(4, false);
    for (int step = 0; step < 5; ++step) {
      std::vector<int32_t> chosen;
      for (int g = 0; g < 4; ++g) {
        if (ended[g]) continue;
        const std::vector<double> p = Softmax(language.Logits(tokens[g]));
        int best = -1;
        double best_score = 0.0;
        for (int token = 0; token < 8; ++token) {
          const auto times = std::count(chosen.begin(), chosen.end(), token);
          const double score = static_cast<float>(std::log(p[token])) - 0.7 * times;
          if (best < 0 || score > best_score + 1e-6) best = token, best_score = score;
        }
        sums[g] += best_score;
        tokens[g].push_back(best);
        ended[g] = best == kEos || step == 4;
        if (!ended[g]) chosen.push_back(best);
      }
    }
    std::map<std::vector<int32_t>, double> want;
    for (int g = 0; g < 4; ++g) {
      if (tokens[g].back() == kEos) tokens[g].pop_back();
      if (want.count(tokens[g]) == 0 || want[tokens[g]] < sums[g]) want[tokens[g]] = sums[g];
    }
    const std::vector<Hypothesis> found = Found(language, task);
    ASSERT_EQ(found.size(), want.size());
    for (const Hypothesis& hypothesis : found) {
      ASSERT_EQ(want.count(hypothesis.tokens), 1u);
      EXPECT_NEAR(hypothesis.score, want[hypothesis.tokens], 1e-4);
    }
  }
}

// Whole searches of groups of two hypotheses, transcribed: each group is a beam that sees its
// tokens' log-probabilities less the penalties.
struct Group {
  struct Item {
    std::vector<int32_t> tokens;
    double sum = 0.0;
  };
  std::vector<Item> live = {{}};
  std::vector<Item> finished;  // best first
};

// One step of a group of `size`; the length penalty is 0.
void StepGroup(const RandomLanguage& language, const SearchOptions& options, size_t size,
               std::vector<int32_t>* chosen, Group* group) {
  std::vector<Group::Item> ranked;
  for (const Group::Item& item : group->live) {
    const std::vector<double> p = Softmax(language.Logits(item.tokens));
    for (size_t token = 0; token < p.size(); ++token) {
      const auto times = std::count(chosen->begin(), chosen->end(), static_cast<int32_t>(token));
      Group::Item child = item;
      child.tokens.push_back(static_cast<int32_t>(token));
      child.sum += std::log(p[token]) - options.diversity_penalty * static_cast<double>(times);
      ranked.push_back(child);
    }
  }
  const auto better = [](const Group::Item& a, const Group::Item& b) { return a.sum > b.sum; };
  std::stable_sort(ranked.begin(), ranked.end(), better);
  ranked.resize(std::min(ranked.size(), 2 * size));
  group->live.clear();
  for (size_t rank = 0; rank < ranked.size(); ++rank) {
    const Group::Item& item = ranked[rank];
    const bool last = static_cast<int>(item.tokens.size()) == options.max_length;
    if (item.tokens.back() == kEos || last) {
      if (rank < size) group->finished.push_back(item);
    } else if (group->live.size() < size) {
      group->live.push_back(item);
    }
  }
  std::stable_sort(group->finished.begin(), group->finished.end(), better);
  if (group->finished.size() > size) group->finished.resize(size);
  const bool full = group->finished.size() == size;
  if (full && !group->live.empty() && group->live[0].sum <= group->finished.back().sum) {
    group->live.clear();
  }
  for (const Group::Item& item : group->live) chosen->push_back(item.tokens.back());
}

TEST(DiverseBeam, GroupsOfTwoFindWhatTheirTranscriptionFinds) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    const RandomLanguage language(seed, 9);
    SearchTask task = TaskOf(Options(6, 6));
    task.options.beam_groups = 3;
    task.options.diversity_penalty = 0.61f;
    task.options.length_penalty = 0.0f;
    std::vector<Group> groups(3);
    for (int step = 0; step < 6; ++step) {
      std::vector<int32_t> chosen;
      for (Group& group : groups) StepGroup(language, task.options, 2, &chosen, &group);
    }
    std::map<std::vector<int32_t>, double> want;  // the best score of each
    for (const Group& group : groups) {
      for (const Group::Item& item : group.finished) {
        std::vector<int32_t> tokens = item.tokens;
        if (tokens.back() == kEos) tokens.pop_back();
        want[tokens] = want.count(tokens) == 0 ? item.sum : std::max(want[tokens], item.sum);
      }
    }
    const std::vector<Hypothesis> found = Found(language, task);
    ASSERT_EQ(found.size(), want.size());
    for (const Hypothesis& hypothesis : found) {
      ASSERT_EQ(want.count(hypothesis.tokens), 1u);
      EXPECT_NEAR(hypothesis.score, want[hypothesis.tokens], 1e-4);
    }
  }
}

TEST(DiverseBeam, WithoutAPenaltyEveryGroupIsTheSameBeam) {
  const RandomLanguage language(9, 8);
  SearchTask task = TaskOf(Options(4, 6));
  task.options.beam_groups = 2;
  task.options.diversity_penalty = 0.0f;
  const std::vector<Hypothesis> groups = Found(language, task);
  const std::vector<Hypothesis> beam = Found(language, TaskOf(Options(2, 6)));
  ASSERT_EQ(groups.size(), beam.size());
  for (size_t i = 0; i < beam.size(); ++i) EXPECT_EQ(groups[i].tokens, beam[i].tokens);
}

// --- Constraints

bool Contains(const std::vector<int32_t>& tokens, const std::vector<int32_t>& phrase) {
  return std::search(tokens.begin(), tokens.end(), phrase.begin(), phrase.end()) != tokens.end();
}

// Finds the likeliest translation that contains all phrases by a walk over the whole tree.
void BestWith(const RandomLanguage& language, const std::vector<std::vector<int32_t>>& phrases,
              const std::vector<int32_t>& tokens, double log_prob, int max_length,
              std::pair<double, std::vector<int32_t>>* best) {
  const std::vector<double> p = Softmax(language.Logits(tokens));
  for (size_t token = 0; token < p.size(); ++token) {
    const double sum = log_prob + std::log(p[token]);
    if (sum <= best->first) continue;
    if (static_cast<int32_t>(token) == kEos) {
      bool all = true;
      for (const auto& phrase : phrases) all = all && Contains(tokens, phrase);
      if (all) *best = {sum, tokens};
      continue;
    }
    std::vector<int32_t> longer = tokens;
    longer.push_back(static_cast<int32_t>(token));
    if (static_cast<int>(longer.size()) == max_length) {  // ended by the maximum length
      bool all = true;
      for (const auto& phrase : phrases) all = all && Contains(longer, phrase);
      if (all) *best = {sum, longer};
      continue;
    }
    BestWith(language, phrases, longer, sum, max_length, best);
  }
}

TEST(ConstrainedBeam, SaysEveryPhraseAndMostlyInTheBestPlace) {
  int best = 0, all = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const RandomLanguage language(seed, 5);
    SearchTask task = TaskOf(Options(8, 7));
    task.options.num_hypotheses = 1;
    task.options.length_penalty = 0.0f;
    task.phrases = {{2, 3}};
    if (seed % 2 == 0) task.phrases.push_back({4});
    const std::vector<Hypothesis> found = Found(language, task);
    ASSERT_EQ(found.size(), 1u);
    for (const auto& phrase : task.phrases) {
      EXPECT_TRUE(Contains(found[0].tokens, phrase)) << ::testing::PrintToString(found[0].tokens);
    }
    std::pair<double, std::vector<int32_t>> want = {-1e9, {}};
    BestWith(language, task.phrases, {}, 0.0, 7, &want);
    EXPECT_LE(found[0].log_prob, want.first + 1e-4);
    best += found[0].tokens == want.second ? 1 : 0;
    ++all;
  }
  EXPECT_GE(best, all * 3 / 4) << "of " << all;
}

// A long and unlikely phrase: hypotheses that have just begun it must not displace one that is in
// the middle of it.
TEST(ConstrainedBeam, SaysALongAndUnlikelyPhrase) {
  const ConstantLanguage language({7.0f, 6.0f, -6.0f, -7.0f, -5.0f, -8.0f});
  for (const int beam_size : {1, 2, 4}) {
    SearchTask task = TaskOf(Options(beam_size, 30));
    task.options.num_hypotheses = 1;
    task.phrases = {{2, 3, 4, 5, 3}};
    const std::vector<Hypothesis> found = Found(language, task);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_TRUE(Contains(found[0].tokens, task.phrases[0]))
        << beam_size << ": " << ::testing::PrintToString(found[0].tokens);
    EXPECT_EQ(found[0].finish_reason, FinishReason::kEos);
  }
}

// A vocabulary in pieces, in which each text is cut in one way only.
const std::vector<std::string> kPieces = {"", "▁a", "▁b", "n", "s", "."};

std::string Words(absl::Span<const int32_t> tokens) {
  std::string text;
  for (const int32_t token : tokens) {
    const std::string& piece = kPieces[token];
    if (piece == ".") {
      text += " . ";
    } else {
      text += piece.starts_with("▁") ? " " + piece.substr(std::string("▁").size()) : piece;
    }
  }
  return text + " ";
}

// Whether the text has each phrase as whole words, as often as it is listed.
bool SaysWords(const std::vector<std::vector<int32_t>>& phrases, absl::Span<const int32_t> tokens) {
  const std::string text = Words(tokens);
  for (const std::vector<int32_t>& phrase : phrases) {
    const std::string words = Words(phrase);
    std::ptrdiff_t times = 0;
    for (size_t i = text.find(words); i != std::string::npos; i = text.find(words, i + 1)) ++times;
    if (times < std::count(phrases.begin(), phrases.end(), phrase)) return false;
  }
  return true;
}

// The likeliest continuation of `tokens` that says all phrases in whole words.
void BestInWords(const RandomLanguage& language, const SearchTask& task,
                 const std::vector<int32_t>& tokens, double log_prob,
                 std::pair<double, std::vector<int32_t>>* best) {
  const std::vector<double> p = Softmax(language.Logits(tokens));
  for (size_t token = 0; token < p.size(); ++token) {
    const double sum = log_prob + std::log(p[token]);
    if (sum <= best->first) continue;
    std::vector<int32_t> longer = tokens;
    if (token != kEos) longer.push_back(static_cast<int32_t>(token));
    if (token != kEos && static_cast<int>(longer.size()) < task.options.max_length) {
      BestInWords(language, task, longer, sum, best);
    } else if (SaysWords(task.phrases, longer)) {
      *best = {sum, longer};
    }
  }
}

TEST(ConstrainedBeam, APhraseIsNotSaidIfItsLastWordGoesOn) {
  const std::vector<std::vector<std::vector<int32_t>>> glossaries = {
      {{1}}, {{1, 3}}, {{1}, {2}}, {{2, 4}, {2, 4}}, {{2}, {1, 3, 2}}};
  int best = 0, all = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    for (const auto& phrases : glossaries) {
      for (const std::vector<int32_t>& prefix :
           {std::vector<int32_t>{}, {2}, {1}, {1, 3}, {5, 2, 4}}) {
        SCOPED_TRACE(testing::Message() << "seed " << seed << ::testing::PrintToString(phrases)
                                        << " prefix " << ::testing::PrintToString(prefix));
        const RandomLanguage language(seed, static_cast<int>(kPieces.size()));
        WholeSearch search = Options(8, static_cast<int>(prefix.size()) + 5);
        search.num_hypotheses = 1;
        search.length_penalty = 0.0f;
        search.word_joins = std::make_shared<WordJoins>(kPieces);
        SearchTask task = TaskOf(search);
        task.phrases = phrases;
        task.prefix = prefix;
        const std::vector<Hypothesis> found = Found(language, task);
        ASSERT_EQ(found.size(), 1u);
        EXPECT_TRUE(SaysWords(phrases, found[0].tokens)) << Words(found[0].tokens);
        std::pair<double, std::vector<int32_t>> want = {-1e9, {}};
        BestInWords(language, task, prefix, 0.0, &want);
        EXPECT_LE(found[0].log_prob, want.first + 1e-4);
        best += found[0].tokens == want.second ? 1 : 0;
        ++all;
      }
    }
  }
  EXPECT_GE(best, all * 3 / 4) << "of " << all;
}

// A model that generates the last token first continues a word towards its beginning.
TEST(ConstrainedBeam, APhraseIsNotSaidIfItsWordHasBegunBefore) {
  const ConstantLanguage language({0.0f, 1.0f, 1.0f, 5.0f, 1.0f, 0.0f});
  for (const bool reversed : {false, true}) {
    WholeSearch search = Options(4, 8);
    search.word_joins = std::make_shared<WordJoins>(kPieces, reversed);
    SearchTask task = TaskOf(search);
    task.phrases = {{1}};
    const std::vector<int32_t> tokens = Found(language, task)[0].tokens;
    const auto a = std::find_if(tokens.begin(), tokens.end(), [&](const int32_t& token) {
      const bool last = &token == &tokens.back(), first = &token == &tokens.front();
      const int32_t neighbour = reversed ? (first ? 0 : *(&token - 1)) : (last ? 0 : *(&token + 1));
      return token == 1 && neighbour != 3 && neighbour != 4;
    });
    EXPECT_NE(a, tokens.end()) << ::testing::PrintToString(tokens);
  }
}

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

// --- Runaway

TEST(Runaway, KeepsOneUnitOfARepetition) {
  std::vector<int32_t> tokens = {1, 2};
  for (int i = 0; i < 9; ++i) tokens.insert(tokens.end(), {3, 4});
  EXPECT_EQ(TokensBeforeRepetition(tokens, 15), 4);
  EXPECT_EQ(TokensBeforeRepetition(tokens, 16), 0);
  tokens.push_back(5);
  EXPECT_EQ(TokensBeforeRepetition(tokens, 15), 0);
}

TEST(Runaway, WhatTheSourceRepeatsIsCounted) {
  EXPECT_EQ(LongestRepetition({1, 2, 3, 4}), 0);
  EXPECT_EQ(LongestRepetition({7, 7, 7, 7, 1}), 3);
  EXPECT_EQ(LongestRepetition({1, 2, 3, 1, 2, 3, 1, 2, 3, 9}), 6);
}

TEST(Runaway, ASearchEndsWhenItsHypothesisRunsAway) {
  // Token 2 follows everything.
  const ConstantLanguage language({0.0f, 0.0f, 9.0f, 0.0f});
  for (const int beam_size : {1, 4}) {
    SearchTask task = TaskOf(Options(beam_size, 200));
    task.options.repetition_guard = true;
    task.source = {3, 3, 0};
    const std::vector<Hypothesis> found = Found(language, task);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found[0].finish_reason, FinishReason::kRepetition);
    EXPECT_LT(found[0].tokens.size(), 5u);
    task.options.repetition_guard = false;
    EXPECT_EQ(Found(language, task)[0].tokens.size(), beam_size == 1 ? 200u : 200u);
  }
}

// --- Penalties

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
    if (seed % 2 == 0) task.phrases = {{2}};
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
}  // namespace dragoman
