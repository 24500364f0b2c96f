// What all kinds of search share: how a hypothesis begins and grows, how it is scored, and how it
// ends.

#ifndef DRAGOMAN_ENGINE_SEARCH_SCORING_H_
#define DRAGOMAN_ENGINE_SEARCH_SCORING_H_

#include "engine/search/search.h"

namespace dragoman {

// The hypothesis that a task begins with: its prefix, whose log-probabilities count as 0.
LiveHypothesis Beginning(const SearchTask& task);

// `parent` extended by one token.
LiveHypothesis Grown(const LiveHypothesis& parent, const Candidate& candidate);

// The best n by their scores, best first; of equal ones, the first.
std::vector<Hypothesis> BestOf(std::vector<Hypothesis> hypotheses, int n);

// The common prefix of several hypotheses:  a b c d, a b e  ->  a b
class CommonPrefix {
 public:
  // `tokens` must stay valid and in place while the prefix is used.
  void Add(absl::Span<const int32_t> tokens);
  // The common prefix of all that were added; empty if none was.
  absl::Span<const int32_t> tokens() const { return tokens_; }

 private:
  bool any_ = false;
  absl::Span<const int32_t> tokens_;
};

// Does not refer to the task, but the function that tells the coverage must outlive this.
class Scoring {
 public:
  explicit Scoring(const SearchTask& task);

  // The score of a hypothesis of this many tokens, including prefix and eos, without the cost of
  // coverage: the highest that it can be.
  float Score(float log_prob, int length) const;

  // The score of a hypothesis that ends after that row of the network.
  float FinalScore(float log_prob, int length, int row) const;

  // Finishes a hypothesis as it is.  If it ends in eos, that is removed from its tokens; an eos
  // that was forced ends it for its length.
  Hypothesis Finished(LiveHypothesis live, bool ends_in_eos, bool forced = false) const;

  // The number of tokens to keep of a hypothesis that has run away (runaway.h); 0 if it has not.
  int TokensBeforeRunaway(absl::Span<const int32_t> tokens) const;

  // Finishes it with only this many tokens.
  Hypothesis Cut(LiveHypothesis live, int tokens) const;

  // The tokens of a live hypothesis that remain however it continues: all of them, except those
  // that the guard would cut off if they turned out to begin a repetition.
  absl::Span<const int32_t> SafeTokens(absl::Span<const int32_t> tokens) const;

  // An upper bound of every score that a live hypothesis can still reach, if so much of its
  // log-probability, and so many of its tokens, are left out.
  float HighestScore(const LiveHypothesis& live, float without = 0.0f, int tokens = 0) const;

 private:
  const float length_penalty_;
  const float word_penalty_;
  const LengthNormalization normalization_;
  const int prefix_length_;
  const int max_length_;
  const bool margins_;
  const float coverage_penalty_;
  const std::function<float(int row)> coverage_;
  int repetition_allowance_;  // negative: no guard
  int least_length_;          // shorter hypotheses cannot have run away
};

// A search that is done when no hypothesis is live.
class ScoredSearch : public Search {
 public:
  absl::Span<const LiveHypothesis> live() const final { return live_; }
  bool done() const final { return live_.empty(); }

 protected:
  explicit ScoredSearch(const SearchTask& task) : eos_id_(task.rules->eos_id), scoring_(task) {
    live_.push_back(Beginning(task));
  }

  const int32_t eos_id_;
  const Scoring scoring_;
  std::vector<LiveHypothesis> live_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_SEARCH_SCORING_H_
