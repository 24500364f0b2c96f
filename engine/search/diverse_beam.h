// Diverse beam search (Vijayakumar et al. 2018): the beam is divided into groups that search one
// after the other.  At each step a token costs diversity_penalty more for each hypothesis of an
// earlier group that has just chosen it (Hamming diversity).
//
//   beam_size 4, beam_groups 2:  group 0 is a plain beam of 2; group 1, another that avoids the
//                                tokens that group 0 chose at the same position
//
// The scores of later groups include these penalties.  The best hypotheses of all groups are
// returned in the order of their scores, without duplicates.

#ifndef DRAGOMAN_ENGINE_SEARCH_DIVERSE_BEAM_H_
#define DRAGOMAN_ENGINE_SEARCH_DIVERSE_BEAM_H_

#include <vector>

#include "engine/search/beam.h"

namespace dragoman {

class DiverseBeam final : public Search {
 public:
  // REQUIRES: beam_size is a multiple of beam_groups.
  explicit DiverseBeam(const SearchTask& task);

  absl::Span<const LiveHypothesis> live() const override { return live_; }
  // Twice the size of a group, and one more for each token that may have got a penalty.
  int candidates_per_row() const override { return candidates_per_row_; }
  void Advance(absl::Span<const Candidate> candidates) override;
  bool done() const override { return live_.empty(); }
  std::vector<Hypothesis> Best(int n) const override;
  // What the groups have in common, which by design is little.
  absl::Span<const int32_t> StablePrefix(int n) const override;

 private:
  struct Group {
    Beam beam;
    int first = 0;  // where its hypotheses were in live_ before the last Advance
  };

  void GatherLive();

  const float diversity_penalty_;
  int candidates_per_row_;
  std::vector<Group> groups_;
  std::vector<LiveHypothesis> live_;  // of all groups, in order
  std::vector<int32_t> chosen_;       // tokens of this step, by the earlier groups
  std::vector<Candidate> own_;        // scratch
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_SEARCH_DIVERSE_BEAM_H_
