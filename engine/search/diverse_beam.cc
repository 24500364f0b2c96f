// Diverse beam search (Vijayakumar et al. 2018): the beam is divided into groups that search one
// after the other.  At each step a token costs diversity_penalty more for each hypothesis of an
// earlier group that has just chosen it (Hamming diversity).
//
//   beam_size 4, beam_groups 2:  group 0 is a plain beam of 2; group 1, another that avoids the
//                                tokens that group 0 chose at the same position
//
// The scores of later groups include these penalties.  The best hypotheses of all groups are
// returned in the order of their scores, without duplicates.

#include <climits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "engine/base/status.h"
#include "engine/search/beam.h"
#include "engine/search/searches.h"

namespace dragoman {
namespace {

class DiverseBeam final : public Search {
 public:
  // REQUIRES: beam_size is a multiple of beam_groups.
  explicit DiverseBeam(const SearchTask& task)
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

  absl::Span<const LiveHypothesis> live() const override { return live_; }
  // Twice the size of a group, and one more for each token that may have got a penalty.
  int candidates_per_row() const override { return candidates_per_row_; }

  void Advance(absl::Span<const Candidate> candidates) override {
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

  bool done() const override { return live_.empty(); }

  std::vector<Hypothesis> Best(int n) const override {
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

  // What the groups have in common, which by design is little.
  absl::Span<const int32_t> StablePrefix(int n) const override {
    CommonPrefix common;
    for (const Group& group : groups_) {
      if (group.beam.done() && !group.beam.found_any()) continue;
      common.Add(group.beam.StablePrefix(n));
    }
    return common.tokens();
  }

 private:
  struct Group {
    Beam beam;
    int first = 0;  // where its hypotheses were in live_ before the last Advance
  };

  void GatherLive() {
    live_.clear();
    for (const Group& group : groups_) {
      for (const LiveHypothesis& live : group.beam.live()) {
        live_.push_back(live);
        live_.back().parent += group.first;
      }
    }
  }

  const float diversity_penalty_;
  int candidates_per_row_;
  std::vector<Group> groups_;
  std::vector<LiveHypothesis> live_;  // of all groups, in order
  std::vector<int32_t> chosen_;       // tokens of this step, by the earlier groups
  std::vector<Candidate> own_;        // scratch
};

}  // namespace

std::unique_ptr<Search> NewDiverseBeam(const SearchTask& task) {
  return std::make_unique<DiverseBeam>(task);
}

}  // namespace dragoman
