#include "engine/search/sampler.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "engine/base/status.h"

namespace dragoman {

void Sampler::Advance(absl::Span<const Candidate> candidates) {
  DRAGOMAN_CHECK(!done());
  next_.clear();
  for (const Candidate& candidate : candidates) {
    const LiveHypothesis& parent = live_[candidate.parent];
    LiveHypothesis child = Grown(parent, candidate);
    child.draw = started_ ? parent.draw : static_cast<int>(next_.size() + finished_.size());
    const bool ends_in_eos = candidate.token == eos_id_;
    const bool at_limit = static_cast<int>(child.tokens.size()) == options_.max_length;
    if (ends_in_eos || at_limit) {
      const bool forced = at_limit && options_.forced_eos_id.has_value();
      finished_.push_back(scoring_.Finished(std::move(child), ends_in_eos, forced));
    } else if (const int kept = scoring_.TokensBeforeRunaway(child.tokens); kept > 0) {
      finished_.push_back(scoring_.Cut(std::move(child), kept));
    } else {
      next_.push_back(std::move(child));
    }
  }
  std::swap(live_, next_);
  started_ = true;
}

std::vector<Hypothesis> Sampler::Best(int n) const {
  DRAGOMAN_CHECK(done());
  return BestOf(finished_, n);
}

absl::Span<const int32_t> Sampler::StablePrefix(int n) const {
  // The score needed to be among the best n; none while fewer have ended.
  std::vector<float> scores;
  for (const Hypothesis& hypothesis : finished_) scores.push_back(hypothesis.score);
  const size_t wanted = static_cast<size_t>(std::max(n, 1));
  float least = -std::numeric_limits<float>::infinity();
  if (scores.size() >= wanted) {
    std::nth_element(scores.begin(), scores.begin() + (wanted - 1), scores.end(), std::greater<>());
    least = scores[wanted - 1];
  }
  CommonPrefix common;
  for (const Hypothesis& hypothesis : finished_) {
    if (hypothesis.score >= least) common.Add(hypothesis.tokens);
  }
  for (const LiveHypothesis& live : live_) {
    if (scoring_.HighestScore(live) >= least) common.Add(scoring_.SafeTokens(live.tokens));
  }
  return common.tokens();
}

}  // namespace dragoman
