// The beam search of Marian NMT (translator/beam_search.cpp), whose beam narrows as it goes: a
// hypothesis that ends keeps its place, and the others share what is left.
//
//   beam 3:   step 1   a     b     c        the best 3 first tokens
//             step 2   a x   a </s>  b y    the best 3: one has ended
//             step 3   b y z   a x </s>     the best 2 of those that continue
//             ...                           until none continues, or max_length
//
// It has no early stopping, and no hypothesis that ends is dropped, so the search finds as many
// hypotheses as the beam is wide.  At max_length those that are still alive end as they are.  Ties
// are broken by the lower parent, then by the lower token id.

#ifndef DRAGOMAN_ENGINE_SEARCH_SHRINKING_BEAM_H_
#define DRAGOMAN_ENGINE_SEARCH_SHRINKING_BEAM_H_

#include <vector>

#include "engine/search/scoring.h"
#include "engine/search/search.h"

namespace dragoman {

class ShrinkingBeam final : public ScoredSearch {
 public:
  explicit ShrinkingBeam(const SearchTask& task)
      : ScoredSearch(task), max_length_(task.options.max_length), width_(task.options.beam_size) {}

  int candidates_per_row() const override { return width_; }
  void Advance(absl::Span<const Candidate> candidates) override;
  std::vector<Hypothesis> Best(int n) const override;

 private:
  float SumOf(const Candidate& candidate) const {
    return live_[candidate.parent].log_prob + candidate.log_prob;
  }

  const int max_length_;
  int width_;                         // of the beam: places that no finished hypothesis has
  std::vector<Candidate> ranked_;     // scratch
  std::vector<Hypothesis> finished_;  // in the order in which they ended
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_SEARCH_SHRINKING_BEAM_H_
