#include "engine/search/forced.h"

#include <algorithm>
#include <utility>

#include "engine/base/status.h"

namespace dragoman {

void Forced::Advance(absl::Span<const Candidate> candidates) {
  DRAGOMAN_CHECK(!done());
  LiveHypothesis whole = std::move(live_.front());
  live_.clear();
  if (candidates.size() != whole.tokens.size() + 1) return;
  whole.token_log_probs.clear();
  whole.token_margins.clear();
  for (const Candidate& candidate : candidates) {
    whole.token_log_probs.push_back(candidate.log_prob);
    whole.token_margins.push_back(candidate.margin);
    whole.log_prob += candidate.log_prob;
  }
  whole.tokens.push_back(eos_id_);
  whole.row = candidates.back().row;
  scored_.push_back(scoring_.Finished(std::move(whole), /*ends_in_eos=*/true));
}

std::vector<Hypothesis> Forced::Best(int n) const {
  DRAGOMAN_CHECK(done());
  return n > 0 ? scored_ : std::vector<Hypothesis>();
}

}  // namespace dragoman
