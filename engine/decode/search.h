// What a batch needs to know of the search of one sentence: which hypotheses grow, what it has to
// see of their continuations, and whether it has found its translations.  Each kind of search is a
// class of its own, and sentences of different kinds share a batch.
//
//   std::unique_ptr<Search> search = MakeSearch(task);
//   while (!search->done()) {
//     ... run the decoder on search->live(), rank the continuations (logits.h) ...
//     search->Advance(candidates);
//   }
//   search->Best(1);
//
// A search is pure bookkeeping: no tensors, no threads, no clock.  Used by one thread at a time.

#ifndef DRAGOMAN_ENGINE_DECODE_SEARCH_H_
#define DRAGOMAN_ENGINE_DECODE_SEARCH_H_

#include <cstdint>
#include <memory>
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

class Search {
 public:
  virtual ~Search() = default;

  // The hypotheses to extend next, best first: at first one without tokens, none once done().
  // Valid until the next Advance.
  virtual absl::Span<const LiveHypothesis> live() const = 0;

  // How many candidates per live hypothesis Advance needs to see: the best that many of each row,
  // or all there are if there are fewer.
  virtual int candidates_per_row() const = 0;

  // Makes one step.  Candidates whose log-probability is -inf or NaN are ignored.  If none is left
  // the search is done with what is finished, perhaps nothing.  REQUIRES: !done().
  virtual void Advance(absl::Span<const Candidate> candidates) = 0;

  virtual bool done() const = 0;

  // The best n finished hypotheses, best first; fewer if there are fewer.  REQUIRES: done().
  virtual std::vector<Hypothesis> Best(int n) const = 0;
};

// What to search for one sentence.
struct SearchTask {
  SearchOptions options;
  std::shared_ptr<const SearchRules> rules;  // never null
};

// The search that the task asks for.
std::unique_ptr<Search> MakeSearch(const SearchTask& task);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_SEARCH_H_
