// From one row of logits to its best continuations: the logits processors of Hugging Face, in their
// order (repetition penalty, no-repeat n-gram, bad words, minimum length, forced bos, forced eos,
// renormalization), log-softmax and top-k, over a vocabulary that arrives in tiles.
//
// The processors affect few tokens, which are known in advance.  These are set aside as the tiles
// pass; all others contribute only to the sum and to the k largest.  At the end, the processors are
// applied to the tokens set aside, and log-softmax to a handful of numbers.
//
// A row may come with the logits of some tokens only, its sentence's shortlist.  The other tokens
// are excluded: they are never chosen and have no mass in the log-softmax, which is taken over the
// shortlist alone (as in Marian).  So scores with a shortlist are slightly higher than without.  A
// forced token need not be in the shortlist.
//
// Beam search applies the processors to log-probabilities, greedy search to raw logits; this
// matters only for the repetition penalty.  A row's result depends on nothing but the row, its
// tiles and its hypothesis.

#ifndef DRAGOMAN_ENGINE_SEARCH_LOGITS_H_
#define DRAGOMAN_ENGINE_SEARCH_LOGITS_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/types/span.h"
#include "engine/search/row_sampler.h"
#include "engine/search/search.h"

namespace dragoman {

// The logarithm of a sum of exponentials that arrive a few at a time.
class LogSum {
 public:
  // Adds exp(x[i]) for all i and returns their sum; NaN counts as -inf.
  TileMass Add(absl::Span<const float> x);
  // -inf if only -inf was added, +inf if +inf was.
  float value() const;

 private:
  float max_ = -std::numeric_limits<float>::infinity();
  double sum_ = 0.0;  // of exp(x - max_)
};

// A row, and what is wanted of it.
struct RankTask {
  const SearchOptions* options = nullptr;  // both outlive the row
  const SearchRules* rules = nullptr;
  absl::Span<const int32_t> tokens;  // generated so far by the row's hypothesis
  int parent = 0;                    // the index of that hypothesis
  int k = 1;  // how many of the best continuations; when sampling, how many draws
  // Candidates to return besides the best, unless they are banned; without duplicates.
  absl::Span<const int32_t> wanted;
  bool plain = false;       // no processors: the model's own log-probabilities
  uint64_t random_key = 0;  // of the hypothesis' draws
};

// Ranks one row at a time; keeps its memory from one row to the next.
class RowRanker {
 public:
  // Starts a row.
  void Start(const RankTask& task);

  // Adds the logits of tokens first_token, first_token + 1, ...; overwrites some of them.
  // REQUIRES: first_token is where the previous tile ended, or 0 for the first.
  void Add(int first_token, absl::Span<float> logits);

  // Adds the logits of these tokens, instead of a tile of Add; overwrites some of them.  REQUIRES:
  // tokens ascend, and are above those of earlier calls; logits has as many elements.
  void AddSelected(absl::Span<const int32_t> tokens, absl::Span<float> logits);

  // Appends the best continuations to `out`, best first; ties go to the lower token.  Banned tokens
  // and NaN are never among them, so there may be fewer than k; a row with +inf has none.
  // Candidate::log_prob is the processed log-probability under both searches: greedy search chooses
  // by the processed raw logits, but reports the log-softmax of the raw logits (of the processed
  // ones with renormalize_logits).  A forced token is the only one and has 0.
  //
  // When sampling, tokens come in the order of the draws, with replacement, and log_prob is the
  // model's own, before temperature and filters.
  void Finish(std::vector<Candidate>* out);

  // Whether Finish has found nothing because the options and rules ban every token that the model
  // gives a finite score.
  bool all_banned() const { return all_banned_; }

 private:
  // A token that a processor affects, or that is wanted.
  struct Special {
    int32_t token = 0;
    bool banned = false;
    bool penalized = false;
    bool wanted = false;
    float logit = -std::numeric_limits<float>::infinity();  // as in the row
    int32_t position = -1;                                  // in the sampler's row
  };

  // A candidate and its sort key in the search.
  struct Ranked {
    float rank = 0.0f;
    Candidate candidate;
    bool wanted = false;
  };

  void SetAside(const Special& special) { specials_.push_back(special); }
  void Process(absl::Span<const int32_t> tokens);
  void MergeSpecials();
  template <typename TokenAt>
  void AddOrdinary(TokenAt token_at, absl::Span<const float> logits);
  void InsertTop(int32_t token, float logit);
  bool greedy() const { return options_->beam_size == 1 || options_->sampling; }
  float PenalizedLogProb(float logit, float log_sum) const;
  void Draw(float log_sum, float shift, std::vector<Candidate>* out);

  RankTask task_;
  const SearchOptions* options_ = nullptr;
  int parent_ = 0;
  size_t k_ = 1;
  bool draws_ = false;
  bool forced_ = false;
  bool all_banned_ = false;
  int32_t forced_token_ = 0;
  std::vector<Special> specials_;     // ascending by token, each once
  size_t next_special_ = 0;           // the first one that no tile has contained yet
  LogSum ordinary_;                   // of all tokens but the specials
  std::vector<Candidate> top_;        // the best ordinary ones by logit (in log_prob), best first
  std::vector<int32_t> above_;        // scratch
  std::vector<Ranked> ranked_;        // scratch
  std::vector<int32_t> phrase_ends_;  // scratch
  RowSampler sampler_;                // holds the whole row when sampling
  std::vector<int32_t>
      selected_;  // the tokens of its positions, if the row came through AddSelected
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_SEARCH_LOGITS_H_
