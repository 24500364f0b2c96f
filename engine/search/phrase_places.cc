#include "engine/search/phrase_places.h"

#include <algorithm>

#include "engine/base/elementary.h"

namespace dragoman {
namespace {

// What it costs, as a difference of log-probabilities, to begin a phrase where its source has so
// much less of the attention than all of it, on a logarithmic scale; and to say another word where
// it has all of it.
constexpr float kElsewhere = 3.0f;
constexpr float kOwnWord = 4.0f;
constexpr float kLeast = 0.01f;  // less attention costs no more

}  // namespace

PhrasePlaces::PhrasePlaces(const SearchTask& task) : attention_(task.attention_of) {
  if (attention_ == nullptr) return;
  for (const Phrase& phrase : task.phrases) sources_.push_back(phrase.source);
}

void PhrasePlaces::Look(absl::Span<const Candidate> candidates, size_t live) {
  if (sources_.empty()) return;
  const size_t phrases = sources_.size();
  looked_.assign(live * phrases, 0.0f);
  int parent = -1;
  for (const Candidate& candidate : candidates) {
    if (candidate.parent == parent) continue;
    parent = candidate.parent;
    const absl::Span<const float> attention = attention_(candidate.row);
    for (size_t p = 0; p < phrases; ++p) {
      float sum = 0.0f;
      for (int s = sources_[p].begin; s < sources_[p].end; ++s) sum += attention[s];
      looked_[static_cast<size_t>(parent) * phrases + p] = sum;
    }
  }
}

PhraseCosts PhrasePlaces::After(const PhraseCosts& costs, const PhraseProgress& before,
                                const PhraseProgress& after, uint64_t begins,
                                const Candidate& candidate) const {
  PhraseCosts next = costs;
  if (after.said != before.said) next = {costs.sum(), {}};
  const absl::Span<const float> looked = LookedAt(candidate.parent);
  if (after.path == 0) {
    next.begun = {};  // what it has abandoned costs nothing
    for (const float at : looked) next.said.places += kOwnWord * at;
  } else {
    if (after.path == 1) next.begun = {0, 0.0f, CostToBegin(begins, looked)};
    ++next.begun.tokens;
    next.begun.log_prob += candidate.log_prob;
  }
  return next;
}

absl::Span<const float> PhrasePlaces::LookedAt(int hypothesis) const {
  const size_t phrases = sources_.size();
  return absl::MakeConstSpan(looked_).subspan(static_cast<size_t>(hypothesis) * phrases, phrases);
}

// Less where the network looks at any of them.
float PhrasePlaces::CostToBegin(uint64_t phrases, absl::Span<const float> looked) const {
  if (looked.empty()) return 0.0f;
  float most = 0.0f;
  for (size_t p = 0; p < looked.size(); ++p) {
    if ((phrases >> p & 1) == 0) continue;
    if (sources_[p].begin == sources_[p].end) return 0.0f;
    most = std::max(most, looked[p]);
  }
  return -kElsewhere * static_cast<float>(LogOf(std::max(most, kLeast)));
}

}  // namespace dragoman
