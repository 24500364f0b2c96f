// What every kind of search does alike: how a hypothesis begins and grows, what it is worth, and
// how it ends.

#ifndef DRAGOMAN_ENGINE_SEARCH_SCORING_H_
#define DRAGOMAN_ENGINE_SEARCH_SCORING_H_

#include "engine/search/search.h"

namespace dragoman {

// The hypothesis that a task begins with: its prefix, whose log-probabilities count as 0.
LiveHypothesis Beginning(const SearchTask& task);

// `parent` and one token more.
LiveHypothesis Grown(const LiveHypothesis& parent, const Candidate& candidate);

// What several hypotheses begin with alike:  a b c d, a b e  ->  a b
class CommonPrefix {
 public:
  // `tokens` must stay where they are while the prefix is used.
  void Add(absl::Span<const int32_t> tokens);
  // Of all that were added; empty if none was.
  absl::Span<const int32_t> tokens() const { return tokens_; }

 private:
  bool any_ = false;
  absl::Span<const int32_t> tokens_;
};

// Safe to keep where the task does not live as long; what tells the coverage must.
class Scoring {
 public:
  explicit Scoring(const SearchTask& task);

  // The score of a hypothesis of that many tokens, prefix and eos included, without what coverage
  // costs: the most that it can be.
  float Score(float log_prob, int length) const;

  // The score of one that ends after that row of the network.
  float FinalScore(float log_prob, int length, int row) const;

  // The hypothesis as it is; its eos, if it ends in one, is no token of it any more.
  Hypothesis Finished(LiveHypothesis live, bool ends_in_eos, FinishReason reason) const;

  // How many tokens of a hypothesis to keep if it has run away (runaway.h); 0 if it has not.
  int TokensBeforeRunaway(absl::Span<const int32_t> tokens) const;

  // The first tokens of one that has, this many.
  Hypothesis Cut(LiveHypothesis live, int tokens) const;

  // The tokens of a live hypothesis that stay, however it goes on: all of them, but for those that
  // the guard would cut off if they turned out to be the beginning of a repetition.
  absl::Span<const int32_t> SafeTokens(absl::Span<const int32_t> tokens) const;

  // No score that a live hypothesis can still come to is above this.
  float HighestScore(const LiveHypothesis& live) const;

  int prefix_length() const { return prefix_length_; }

 private:
  const float length_penalty_;
  const float word_penalty_;
  const LengthNormalization normalization_;
  const int prefix_length_;
  const int max_length_;
  const float coverage_penalty_;
  const std::function<float(int row)> coverage_;
  int repetition_allowance_;  // no guard if it is negative
  int least_length_;          // tokens that a hypothesis must have to have run away
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_SEARCH_SCORING_H_
