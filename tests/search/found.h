// Runs a whole search over a RandomLanguage, as DecodeBatch does with a network.

#ifndef DRAGOMAN_TESTS_SEARCH_FOUND_H_
#define DRAGOMAN_TESTS_SEARCH_FOUND_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "engine/search/logits.h"
#include "engine/search/make_search.h"
#include "gtest/gtest.h"
#include "tests/search/random_language.h"
#include "tests/search/whole_search.h"

namespace dragoman {

inline constexpr int32_t kEos = 0;

inline WholeSearch Options(int beam_size, int max_length) {
  WholeSearch options;
  options.beam_size = options.num_hypotheses = beam_size;
  options.max_length = max_length;
  options.eos_id = kEos;
  options.decoder_start_id = 1;
  return options;
}

inline bool BeginsWith(absl::Span<const int32_t> tokens, absl::Span<const int32_t> beginning) {
  return tokens.size() >= beginning.size() &&
         std::equal(beginning.begin(), beginning.end(), tokens.begin());
}

// The hypotheses that a search over the language ends with.  Expects at each step that the stable
// prefix is kept.  Adds the length of the best hypothesis's last stable prefix to *promised.
inline std::vector<Hypothesis> Found(const RandomLanguage& language, const SearchTask& task,
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
        const size_t before = candidates.size();
        ranker.Finish(&candidates);
        for (Candidate& each : absl::MakeSpan(candidates).subspan(before)) {
          each.row = static_cast<int>(t);  // as if there were one for each place
        }
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

// The probability of each token.
inline std::vector<double> Softmax(const std::vector<float>& logits, double temperature = 1.0) {
  std::vector<double> p;
  double sum = 0.0;
  for (const float logit : logits) {
    p.push_back(std::exp(logit / temperature));
    sum += p.back();
  }
  for (double& x : p) x /= sum;
  return p;
}

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_SEARCH_FOUND_H_
