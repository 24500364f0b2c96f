// Ranks a whole row, in tiles of any size.

#ifndef DRAGOMAN_TESTS_SEARCH_RANK_ROW_H_
#define DRAGOMAN_TESTS_SEARCH_RANK_ROW_H_

#include <algorithm>
#include <vector>

#include "engine/search/logits.h"
#include "tests/search/whole_search.h"

namespace dragoman {

// Appends the best k continuations of hypothesis `parent` to `out`; overwrites `logits`.
inline void RankContinuations(const WholeSearch& options, absl::Span<const int32_t> tokens,
                              int parent, int k, absl::Span<float> logits,
                              std::vector<Candidate>* out, size_t tile = 512) {
  RowRanker ranker;
  ranker.Start(
      {.options = &options, .rules = &options, .tokens = tokens, .parent = parent, .k = k});
  for (size_t first = 0; first < logits.size(); first += tile) {
    ranker.Add(static_cast<int>(first), logits.subspan(first, tile));
  }
  ranker.Finish(out);
}

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_SEARCH_RANK_ROW_H_
