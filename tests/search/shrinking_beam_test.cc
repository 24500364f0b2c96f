// The shrinking beam, compared with a transcription of Marian's search.

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/search/search.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/search/found.h"

namespace dragoman::shrinking_beam_test {
namespace {

using ::testing::ElementsAre;

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

}  // namespace
}  // namespace dragoman::shrinking_beam_test
