// Beam search over one sentence.
//
// In each step the decoder gives, for every live hypothesis, the log-probabilities of its
// continuations; the best 2 x beam_size of all of them are examined in order.  One that ends in eos
// and ranks among the first beam_size becomes a finished hypothesis (a lower one is dropped); the
// next beam_size others live on.  At max_length the first beam_size finish as they are.  This is
// the search of Hugging Face transformers 4.50 and later ("vectorized"). beam_size 1 is greedy
// search, which considers only the best continuation and stops at the first eos.
//
// With a patience other than 1 (Kasai et al. 2022) the search continues until patience x beam_size
// hypotheses are finished.  A hypothesis that runs away (runaway.h) is also finished, without its
// repetition.
//
// Ties are broken by the lower parent, then by the lower token id.  A step in which nothing
// finishes does not allocate.

#ifndef DRAGOMAN_ENGINE_SEARCH_BEAM_H_
#define DRAGOMAN_ENGINE_SEARCH_BEAM_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "engine/search/scoring.h"
#include "engine/search/search.h"

namespace dragoman {

class Beam final : public Search {
 public:
  explicit Beam(const SearchTask& task) : Beam(task, Beginning(task)) {}
  // Begins with a given hypothesis, whose log-probabilities count.
  Beam(const SearchTask& task, const LiveHypothesis& beginning);

  // Never more than beam_size.
  absl::Span<const LiveHypothesis> live() const override;
  int candidates_per_row() const override { return candidates_per_row_; }

  // `candidates` may come in any order.
  void Advance(absl::Span<const Candidate> candidates) override;

  bool done() const override { return done_; }
  int length() const { return length_; }  // of each live hypothesis, in tokens

  // A hypothesis that got its eos from forced_eos_id at max_length reports kMaxLength, because the
  // translation may be incomplete.
  std::vector<Hypothesis> Best(int n) const override;
  bool found_any() const { return !finished_.empty(); }

  // Considers the finished hypotheses that can be among the best n, and the live ones that may get
  // there.
  absl::Span<const int32_t> StablePrefix(int n) const override;

 private:
  // A candidate with the log-probability of the whole hypothesis, comparable with those of other
  // rows.
  struct Continuation {
    Candidate candidate;
    float log_prob = 0.0f;  // of the whole hypothesis
  };

  void Rank(absl::Span<const Candidate> candidates);
  void Finish(const Continuation& continuation);
  void FinishRunaway(const LiveHypothesis& live, int kept);
  std::vector<Hypothesis>::const_iterator PlaceOf(float score) const;
  void Insert(std::vector<Hypothesis>::const_iterator place, Hypothesis hypothesis);
  void Grow(const Continuation& continuation, LiveHypothesis* child) const;
  bool CanImprove() const;

  const SearchOptions options_;
  const int32_t eos_id_;
  const Scoring scoring_;
  const bool margins_;
  const int candidates_per_row_;
  const size_t finished_capacity_;
  int length_;
  bool done_ = false;
  // Both hold beam_size hypotheses with room for max_length tokens, and swap in every step.
  std::vector<LiveHypothesis> live_;  // the first live_size_ are alive
  std::vector<LiveHypothesis> next_;
  int live_size_ = 1;
  std::vector<Continuation> ranked_;  // of this step, best first
  std::vector<Hypothesis> finished_;  // best first, at most finished_capacity_
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_SEARCH_BEAM_H_
