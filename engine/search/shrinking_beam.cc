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

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "engine/search/scoring.h"
#include "engine/search/search.h"
#include "engine/search/searches.h"

namespace dragoman {
namespace {

class ShrinkingBeam final : public ScoredSearch {
 public:
  explicit ShrinkingBeam(const SearchTask& task)
      : ScoredSearch(task), max_length_(task.options.max_length), width_(task.options.beam_size) {}

  int candidates_per_row() const override { return width_; }

  void Advance(absl::Span<const Candidate> candidates) override {
    DRAGOMAN_CHECK(!done());
    ranked_.clear();
    for (const Candidate& candidate : candidates) {
      // False for NaN.
      if (SumOf(candidate) > -std::numeric_limits<float>::infinity()) ranked_.push_back(candidate);
    }
    const auto better = [this](const Candidate& a, const Candidate& b) {
      const float sum_a = SumOf(a), sum_b = SumOf(b);
      if (sum_a != sum_b) return sum_a > sum_b;
      return a.parent != b.parent ? a.parent < b.parent : a.token < b.token;
    };
    const size_t kept = std::min(ranked_.size(), static_cast<size_t>(width_));
    std::partial_sort(ranked_.begin(), ranked_.begin() + kept, ranked_.end(), better);
    ranked_.resize(kept);

    std::vector<LiveHypothesis> next;
    next.reserve(kept);
    for (const Candidate& candidate : ranked_) {
      LiveHypothesis child = Grown(live_[candidate.parent], candidate);
      const bool ends_in_eos = candidate.token == eos_id_;
      if (ends_in_eos || static_cast<int>(child.tokens.size()) == max_length_) {
        finished_.push_back(scoring_.Finished(std::move(child), ends_in_eos));
      } else if (const int tokens = scoring_.TokensBeforeRunaway(child.tokens); tokens > 0) {
        finished_.push_back(scoring_.Cut(std::move(child), tokens));
      } else {
        next.push_back(std::move(child));
      }
    }
    live_ = std::move(next);
    width_ = static_cast<int>(live_.size());
  }

  std::vector<Hypothesis> Best(int n) const override {
    DRAGOMAN_CHECK(done());
    return BestOf(finished_, n);
  }

 private:
  float SumOf(const Candidate& candidate) const {
    return live_[candidate.parent].log_prob + candidate.log_prob;
  }

  const int max_length_;
  int width_;                         // of the beam: places that no finished hypothesis has
  std::vector<Candidate> ranked_;     // scratch
  std::vector<Hypothesis> finished_;  // in the order in which they ended
};

}  // namespace

std::unique_ptr<Search> NewShrinkingBeam(const SearchTask& task) {
  return std::make_unique<ShrinkingBeam>(task);
}

}  // namespace dragoman
