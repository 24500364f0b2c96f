// What a batch needs to know about the search of one sentence: which hypotheses to extend, which of
// their continuations to report, and whether the translations have been found.  Each kind of search
// is a class, and sentences of different kinds share a batch.
//
//   std::unique_ptr<Search> search = MakeSearch(task);
//   while (!search->done()) {
//     ... run the decoder on search->live(), rank the continuations (logits.h) ...
//     search->Advance(candidates);
//   }
//   search->Best(1);
//
// A search is pure bookkeeping: no tensors, no threads, no clock.  Used by one thread at a time.

#ifndef DRAGOMAN_ENGINE_SEARCH_SEARCH_H_
#define DRAGOMAN_ENGINE_SEARCH_SEARCH_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "engine/search/search_options.h"

namespace dragoman {

// The continuation of one live hypothesis by one token.
struct Candidate {
  int parent = 0;  // index into live()
  int32_t token = 0;
  float log_prob = 0.0f;  // of the token given the parent, after the logits processors
  int row = -1;           // the network's row before it, if attention is kept (network.h)
  float margin = 0.0f;    // log_prob less that of the row's best candidate, if margins are kept
};

// A hypothesis that can still grow.
struct LiveHypothesis {
  int parent = 0;               // its index in live() before the last Advance
  int draw = 0;                 // the index of the sample, when sampling
  std::vector<int32_t> tokens;  // the prefix, then the generated ones; the decoder's inputs
  std::vector<float> token_log_probs;
  std::vector<float> token_margins;  // of the generated tokens
  float log_prob = 0.0f;             // the sum of token_log_probs
  int row = -1;                      // of the last candidate
};

// Tokens [begin, end) of a sentence.
struct TokenRange {
  int begin = 0;
  int end = 0;
};

// What a translation must say, in any one of these forms.
struct Phrase {
  std::vector<std::vector<int32_t>> forms;  // at least one; none is empty
  // It may be left out where saying it would lower the score by more than this.
  float max_loss = std::numeric_limits<float>::infinity();
  // What it stands for, if that is known; else empty.
  TokenRange source = {};

  bool may_be_missed() const { return max_loss < std::numeric_limits<float>::infinity(); }

  // The lengths of the shortest and the longest form.
  size_t least() const;
  size_t most() const;
};

// What to search for, for one sentence.
struct SearchTask {
  SearchOptions options;
  std::shared_ptr<const SearchRules> rules;  // never null
  std::vector<int32_t> source;               // token ids, ending in eos; never empty
  // The translation begins with these tokens.  They count towards lengths, but not towards scores.
  std::vector<int32_t> prefix;
  // The prefix is the whole translation, and only its log-probabilities are wanted. max_length
  // leaves room for its eos.
  bool score_prefix = false;
  // What must appear in the translation, each as often as it is listed.
  std::vector<Phrase> phrases;
  // For their sake the beam may become so wide.
  int most_rows = std::numeric_limits<int>::max();
  // Whether hypotheses are to include their attention, and their margins.
  bool attention = false;
  bool margins = false;
  // The attention to each token of the source at a row of the network.  Set if a phrase has a
  // source.
  std::function<absl::Span<const float>(int row)> attention_of;
  bool places_phrases() const;  // whether a phrase has a source
  // How well the hypothesis that ends after this row has covered the source: the sum over source
  // tokens of log(min(1, its total attention)).  Set if there is a coverage_penalty.
  std::function<float(int row)> coverage;
  // What all random draws of the sentence depend on, besides step and hypothesis.
  uint64_t random_key = 0;
};

class Search {
 public:
  virtual ~Search() = default;

  // The hypotheses to extend next, best first.  Initially those of the prefix; none once done().
  // Valid until the next Advance.
  virtual absl::Span<const LiveHypothesis> live() const = 0;

  // How many candidates per live hypothesis Advance needs: this many of the best of each row, or
  // all if there are fewer.
  virtual int candidates_per_row() const = 0;

  // Tokens that Advance needs as candidates of a live hypothesis whatever their rank, unless they
  // are banned; in any order, without duplicates.  Valid until the next Advance.
  virtual absl::Span<const int32_t> wanted(int hypothesis) const { return {}; }

  // Whether Advance needs the log-probabilities of the tokens that live() begins with.  Then each
  // of them is passed as a candidate, in order, before the candidates that follow the last of them.
  virtual bool ranks_prefix() const { return false; }

  // Makes one step.  Candidates with a log-probability of -inf or NaN are ignored.  If none is
  // left, the search is done with whatever is finished, possibly nothing.  REQUIRES: !done().
  virtual void Advance(absl::Span<const Candidate> candidates) = 0;

  virtual bool done() const = 0;

  // The best n finished hypotheses, best first; fewer if there are fewer.  REQUIRES: done().
  virtual std::vector<Hypothesis> Best(int n) const = 0;

  // The tokens with which each hypothesis of Best(n) will begin, whatever candidates come.  They
  // are never taken back: a later call returns the same ones, or more.  A search may promise less
  // than it could; by default, nothing.  Valid until the next Advance.
  virtual absl::Span<const int32_t> StablePrefix(int n) const { return {}; }
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_SEARCH_SEARCH_H_
