#include "engine/search/shrinking_beam.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/base/status.h"

namespace dragoman {

void ShrinkingBeam::Advance(absl::Span<const Candidate> candidates) {
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

std::vector<Hypothesis> ShrinkingBeam::Best(int n) const {
  DRAGOMAN_CHECK(done());
  return BestOf(finished_, n);
}

}  // namespace dragoman
