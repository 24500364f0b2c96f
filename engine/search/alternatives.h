// Alternatives at one point of a translation: the num_hypotheses most likely tokens after the
// prefix, and for each of them the best translation that begins with it (CTranslate2's
// return_alternatives).
//
//   prefix "Das ist"  ->  "Das ist ein Haus." "Das ist das Haus." "Das ist mein Haus."
//
// Each alternative is a beam search of its own.

#ifndef DRAGOMAN_ENGINE_SEARCH_ALTERNATIVES_H_
#define DRAGOMAN_ENGINE_SEARCH_ALTERNATIVES_H_

#include <memory>
#include <vector>

#include "engine/search/beam.h"

namespace dragoman {

class Alternatives final : public ScoredSearch {
 public:
  explicit Alternatives(const SearchTask& task) : ScoredSearch(task), task_(task) {}

  int candidates_per_row() const override;
  void Advance(absl::Span<const Candidate> candidates) override;
  // Best(n) returns the alternatives in the order of their first tokens' probabilities.
  std::vector<Hypothesis> Best(int n) const override;
  // Until the first alternative has found a translation, it is not certain to be the best.  Until
  // then, and for n above 1, this is what all alternatives have in common, which is little.
  absl::Span<const int32_t> StablePrefix(int n) const override;

 private:
  void Expand(absl::Span<const Candidate> candidates);
  void GatherLive();

  SearchTask task_;
  bool expanded_ = false;
  struct Alternative {
    std::unique_ptr<Beam> beam;     // null if the first token ended it
    std::vector<Hypothesis> ended;  // that hypothesis, in this case
    int first = 0;  // where the beam's hypotheses were in live_ before the last Advance
  };
  std::vector<Alternative> alternatives_;
  std::vector<Candidate> own_;  // scratch
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_SEARCH_ALTERNATIVES_H_
