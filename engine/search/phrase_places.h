// What the phrases of a translation cost a hypothesis: what their tokens lack in probability, and
// what it pays for saying them elsewhere than where the network looks at what they stand for.  It
// pays, too, for each word of its own that it says where the network looks at that.
//
//   source     The [car] is old.               the phrase: Fahrzeug
//   attention to "car", and what it costs:
//     Das 0.2 | Fahrzeug 0.7 | ist 0.1 | alt 0.0      little: for the phrase, and for "Das"
//     Das 0.2 | Auto 0.7 | Fahrzeug 0.1 | ist 0.0     more: for "Auto", and for the phrase
//
// The costs only rank hypotheses; they are not part of any score.

#ifndef DRAGOMAN_ENGINE_SEARCH_PHRASE_PLACES_H_
#define DRAGOMAN_ENGINE_SEARCH_PHRASE_PLACES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/types/span.h"
#include "engine/search/phrases.h"
#include "engine/search/search.h"

namespace dragoman {

// What a hypothesis has paid, and for how many tokens of phrases.
struct PhraseCost {
  int tokens = 0;
  float log_prob = 0.0f;  // of these tokens: at most 0
  float places = 0.0f;    // as a difference of log-probabilities: at least 0

  friend PhraseCost operator+(const PhraseCost& a, const PhraseCost& b) {
    return {a.tokens + b.tokens, a.log_prob + b.log_prob, a.places + b.places};
  }
};

// The cost of all that it has said, and of the phrase that it is in the middle of.
struct PhraseCosts {
  PhraseCost said, begun;

  PhraseCost sum() const { return said + begun; }
};

class PhrasePlaces {
 public:
  // Phrases without a source may be anywhere, and so may all if the task tells no attention.
  explicit PhrasePlaces(const SearchTask& task);

  // Sets the rows of the network after which the live hypotheses go on.
  void Look(absl::Span<const Candidate> candidates, size_t live);

  // What a hypothesis has paid after this candidate, which takes its progress from `before` to
  // `after`.  `begins` are the phrases that the token begins: a bit for each.
  PhraseCosts After(const PhraseCosts& costs, const PhraseProgress& before,
                    const PhraseProgress& after, uint64_t begins, const Candidate& candidate) const;

 private:
  absl::Span<const float> LookedAt(int hypothesis) const;
  float CostToBegin(uint64_t phrases, absl::Span<const float> looked) const;

  std::vector<TokenRange> sources_;  // by phrase; none if no place costs anything
  std::function<absl::Span<const float>(int row)> attention_;
  std::vector<float> looked_;  // [live hypotheses, phrases]: at the source of each
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_SEARCH_PHRASE_PLACES_H_
