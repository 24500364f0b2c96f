// Beam search over one sentence as pure bookkeeping: no tensors, no threads, no clock.
//
// A step of the search: the decoder gives, for every live hypothesis, the log-probabilities of its
// continuations; the best 2 x beam_size of all of them are looked at in order.  One that ends in
// eos and ranks among the first beam_size becomes a finished hypothesis (a lower one is dropped);
// the next beam_size others live on.  At max_length the first beam_size finish as they are.  This
// is the search of Hugging Face transformers 4.50 and later ("vectorized"); beam_size 1 is greedy
// search, which looks at the best continuation alone and ends at the first eos.
//
//   Beam beam(options);
//   while (!beam.done()) {
//     ... run the decoder on beam.live(), rank the continuations (logits.h) ...
//     beam.Advance(candidates);
//   }
//   beam.Best(1);
//
// Ties are broken by the lower parent, then by the lower token id.  A step in which nothing
// finishes does not allocate.

#ifndef DRAGOMAN_ENGINE_DECODE_BEAM_H_
#define DRAGOMAN_ENGINE_DECODE_BEAM_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "engine/decode/search_options.h"

namespace dragoman {

// The continuation of one live hypothesis by one token.
struct Candidate {
  int parent = 0;  // index into live()
  int32_t token = 0;
  float log_prob = 0.0f;  // of the token given the parent, after the logits processors
};

// A hypothesis that can still grow.
struct LiveHypothesis {
  int parent = 0;               // its index in live() before the last Advance
  std::vector<int32_t> tokens;  // generated so far; the last one is the decoder's next input
  std::vector<float> token_log_probs;
  float log_prob = 0.0f;  // their sum
};

class Beam {
 public:
  explicit Beam(const SearchOptions& options);

  // The hypotheses to extend next, best first: at first one without tokens, never more than
  // beam_size, none once done().  Valid until the next Advance.
  absl::Span<const LiveHypothesis> live() const;

  // How many candidates per live hypothesis Advance needs to see: the best that many of each row,
  // or all there are if there are fewer.
  int candidates_per_row() const { return candidates_per_row_; }

  // Makes one step.  `candidates` may stand in any order; those whose log-probability is -inf or
  // NaN are ignored.  If none is left the search is done with what is finished, perhaps nothing.
  // REQUIRES: !done().
  void Advance(absl::Span<const Candidate> candidates);

  bool done() const { return done_; }
  int length() const { return length_; }  // tokens that each live hypothesis has

  // The best n finished hypotheses, best first; fewer if there are fewer.  One that was given its
  // eos by forced_eos_id at max_length says kMaxLength: the translation may be incomplete.
  // REQUIRES: done().
  std::vector<Hypothesis> Best(int n) const;

 private:
  // A candidate as it is ranked against those of the other rows.
  struct Continuation {
    Candidate candidate;
    float log_prob = 0.0f;  // of the whole hypothesis
  };

  void Rank(absl::Span<const Candidate> candidates);
  void Finish(const Continuation& continuation);
  void Grow(const Continuation& continuation, LiveHypothesis* child) const;
  bool CanImprove() const;
  float Score(float log_prob, int length) const;

  SearchOptions options_;
  int candidates_per_row_;
  int length_ = 0;
  bool done_ = false;
  // Both hold beam_size hypotheses with room for max_length tokens and change places every step.
  std::vector<LiveHypothesis> live_;  // the first live_size_ are alive
  std::vector<LiveHypothesis> next_;
  int live_size_ = 1;
  std::vector<Continuation> ranked_;  // of this step, best first
  std::vector<Hypothesis> finished_;  // best first, at most beam_size
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_BEAM_H_
