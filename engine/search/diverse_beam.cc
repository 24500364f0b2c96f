#include "engine/search/diverse_beam.h"

#include <climits>
#include <utility>

#include "absl/algorithm/container.h"
#include "engine/base/status.h"

namespace dragoman {

DiverseBeam::DiverseBeam(const SearchTask& task)
    : diversity_penalty_(task.options.diversity_penalty) {
  const int groups = task.options.beam_groups;
  DRAGOMAN_CHECK(groups > 0 && task.options.beam_size % groups == 0);
  SearchTask of_group = task;
  of_group.options.beam_size = task.options.beam_size / groups;
  // Each hypothesis of the earlier groups can give one token a penalty.
  candidates_per_row_ = task.options.beam_size + of_group.options.beam_size;
  groups_.reserve(groups);
  for (int g = 0; g < groups; ++g) groups_.push_back({Beam(of_group)});
  GatherLive();
}

void DiverseBeam::Advance(absl::Span<const Candidate> candidates) {
  DRAGOMAN_CHECK(!done());
  chosen_.clear();
  int first = 0;
  for (Group& group : groups_) {
    if (group.beam.done()) continue;
    const int end = first + static_cast<int>(group.beam.live().size());
    own_.clear();
    for (Candidate candidate : candidates) {
      if (candidate.parent < first || candidate.parent >= end) continue;
      candidate.parent -= first;
      const auto times = absl::c_count(chosen_, candidate.token);
      candidate.log_prob -= diversity_penalty_ * static_cast<float>(times);
      own_.push_back(candidate);
    }
    group.first = first;
    group.beam.Advance(own_);
    for (const LiveHypothesis& live : group.beam.live()) chosen_.push_back(live.tokens.back());
    first = end;
  }
  GatherLive();
}

void DiverseBeam::GatherLive() {
  live_.clear();
  for (const Group& group : groups_) {
    for (const LiveHypothesis& live : group.beam.live()) {
      live_.push_back(live);
      live_.back().parent += group.first;
    }
  }
}

std::vector<Hypothesis> DiverseBeam::Best(int n) const {
  DRAGOMAN_CHECK(done());
  std::vector<Hypothesis> best;
  for (const Group& group : groups_) {
    const std::vector<Hypothesis> found = group.beam.Best(n);
    best.insert(best.end(), found.begin(), found.end());
  }
  std::vector<Hypothesis> distinct;
  for (Hypothesis& hypothesis : BestOf(std::move(best), INT_MAX)) {
    if (static_cast<int>(distinct.size()) == n) break;
    const bool known = absl::c_any_of(
        distinct, [&](const Hypothesis& other) { return other.tokens == hypothesis.tokens; });
    if (!known) distinct.push_back(std::move(hypothesis));
  }
  return distinct;
}

absl::Span<const int32_t> DiverseBeam::StablePrefix(int n) const {
  CommonPrefix common;
  for (const Group& group : groups_) {
    if (group.beam.done() && !group.beam.found_any()) continue;
    common.Add(group.beam.StablePrefix(n));
  }
  return common.tokens();
}

}  // namespace dragoman
