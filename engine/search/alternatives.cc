#include "engine/search/alternatives.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "engine/base/elementary.h"
#include "engine/base/status.h"

namespace dragoman {

int Alternatives::candidates_per_row() const {
  if (!expanded_) return task_.options.num_hypotheses;
  return task_.options.beam_size == 1 ? 1 : 2 * task_.options.beam_size;
}

void Alternatives::Advance(absl::Span<const Candidate> candidates) {
  DRAGOMAN_CHECK(!done());
  if (!expanded_) {
    Expand(candidates);
  } else {
    int first = 0;
    for (Alternative& alternative : alternatives_) {
      if (alternative.beam == nullptr || alternative.beam->done()) continue;
      Beam& beam = *alternative.beam;
      const int end = first + static_cast<int>(beam.live().size());
      alternative.first = first;
      own_.clear();
      for (Candidate candidate : candidates) {
        if (candidate.parent < first || candidate.parent >= end) continue;
        candidate.parent -= first;
        own_.push_back(candidate);
      }
      beam.Advance(own_);
      first = end;
    }
  }
  GatherLive();
}

// A beam for each of the best tokens.
void Alternatives::Expand(absl::Span<const Candidate> candidates) {
  expanded_ = true;
  std::vector<Candidate> best(candidates.begin(), candidates.end());
  absl::c_stable_sort(
      best, [](const Candidate& a, const Candidate& b) { return a.log_prob > b.log_prob; });
  const LiveHypothesis parent = std::move(live_[0]);
  for (const Candidate& candidate : best) {
    const bool likely = ExpOf(candidate.log_prob) >= task_.options.min_alternative_probability;
    if (!alternatives_.empty() && !likely) break;
    LiveHypothesis child = Grown(parent, candidate);
    child.parent = 0;
    const bool ends_in_eos = candidate.token == eos_id_;
    Alternative alternative;
    if (ends_in_eos || static_cast<int>(child.tokens.size()) == task_.options.max_length) {
      alternative.ended.push_back(scoring_.Finished(std::move(child), ends_in_eos));
    } else {
      alternative.beam = std::make_unique<Beam>(task_, child);
    }
    alternatives_.push_back(std::move(alternative));
  }
}

void Alternatives::GatherLive() {
  std::vector<LiveHypothesis> live;
  for (const Alternative& alternative : alternatives_) {
    if (alternative.beam == nullptr) continue;
    for (const LiveHypothesis& hypothesis : alternative.beam->live()) {
      live.push_back(hypothesis);
      live.back().parent += alternative.first;
    }
  }
  live_ = std::move(live);
}

std::vector<Hypothesis> Alternatives::Best(int n) const {
  DRAGOMAN_CHECK(done());
  std::vector<Hypothesis> best;
  for (const Alternative& alternative : alternatives_) {
    if (static_cast<int>(best.size()) == n) break;
    const std::vector<Hypothesis> found =
        alternative.beam == nullptr ? alternative.ended : alternative.beam->Best(1);
    best.insert(best.end(), found.begin(), found.end());
  }
  return best;
}

absl::Span<const int32_t> Alternatives::StablePrefix(int n) const {
  CommonPrefix common;
  if (!expanded_) common.Add(live_[0].tokens);
  for (const Alternative& alternative : alternatives_) {
    const bool found = alternative.beam == nullptr || alternative.beam->found_any();
    common.Add(alternative.beam == nullptr ? absl::MakeConstSpan(alternative.ended[0].tokens)
                                           : alternative.beam->StablePrefix(1));
    if (n == 1 && found) break;
  }
  return common.tokens();
}

}  // namespace dragoman
