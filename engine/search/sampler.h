// Draws translations at random instead of searching: num_hypotheses of them, independently, token
// by token, from the distribution of the model (row_sampler.h).
//
// A draw depends on the seed, the sentence, the step and the hypothesis' index, and on nothing
// else: no generator is shared, so other traffic does not matter.

#ifndef DRAGOMAN_ENGINE_SEARCH_SAMPLER_H_
#define DRAGOMAN_ENGINE_SEARCH_SAMPLER_H_

#include <vector>

#include "engine/search/scoring.h"

namespace dragoman {

class Sampler final : public ScoredSearch {
 public:
  explicit Sampler(const SearchTask& task) : ScoredSearch(task), options_(task.options) {}

  // As many draws from the first row as there are hypotheses, then one from each row.
  int candidates_per_row() const override { return started_ ? 1 : options_.num_hypotheses; }
  void Advance(absl::Span<const Candidate> candidates) override;
  // By score, best first; of equal ones, the first one drawn.
  std::vector<Hypothesis> Best(int n) const override;
  // All of a single sample; what several have in common.
  absl::Span<const int32_t> StablePrefix(int n) const override;

 private:
  const SearchOptions options_;
  bool started_ = false;
  std::vector<LiveHypothesis> next_;
  std::vector<Hypothesis> finished_;  // in the order in which they ended
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_SEARCH_SAMPLER_H_
