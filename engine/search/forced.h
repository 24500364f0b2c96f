// Scores a given translation: the log-probability of each of its tokens and of the end of the
// sentence, all in one decoder step.

#ifndef DRAGOMAN_ENGINE_SEARCH_FORCED_H_
#define DRAGOMAN_ENGINE_SEARCH_FORCED_H_

#include <vector>

#include "engine/search/scoring.h"

namespace dragoman {

class Forced final : public ScoredSearch {
 public:
  // The translation is the task's prefix.
  explicit Forced(const SearchTask& task) : ScoredSearch(task) {}

  int candidates_per_row() const override { return 0; }
  absl::Span<const int32_t> wanted(int hypothesis) const override { return {&eos_id_, 1}; }
  bool ranks_prefix() const override { return true; }
  void Advance(absl::Span<const Candidate> candidates) override;
  // The translation, or nothing if the model gives one of its tokens no finite score.
  std::vector<Hypothesis> Best(int n) const override;

 private:
  std::vector<Hypothesis> scored_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_SEARCH_FORCED_H_
