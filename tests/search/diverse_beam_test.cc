// Diverse beam search, compared with its definition.

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "engine/search/search.h"
#include "gtest/gtest.h"
#include "tests/search/found.h"

namespace dragoman::diverse_beam_test {
namespace {

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

}  // namespace
}  // namespace dragoman::diverse_beam_test
