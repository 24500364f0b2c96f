// Beam search in which given phrases must appear in the translation, each where it is fluent:
// dynamic beam allocation (Post and Vilar 2018), with the constraints' next tokens ranked beside
// the best ones of each row (as Hu et al. 2019 do for a batch).
//
// Hypotheses are kept in banks by the number of phrase tokens that they contain.  Each bank has its
// share of the beam, so that a hypothesis that has just paid for an unlikely token does not compete
// with those that have not paid yet:
//
//   phrase "mein Haus":  bank 0   Das ist ein  | Dies ist das
//                        bank 1   Das ist mein | Das hier mein
//                        bank 2   Das mein Haus
//
// A hypothesis may end once it contains all phrases.  One that leaves a phrase in the middle falls
// back to the bank of its complete phrases.

#ifndef DRAGOMAN_ENGINE_SEARCH_CONSTRAINED_BEAM_H_
#define DRAGOMAN_ENGINE_SEARCH_CONSTRAINED_BEAM_H_

#include <cstdint>
#include <vector>

#include "engine/search/scoring.h"

namespace dragoman {

// How much of a sentence's phrases one hypothesis contains.
struct PhraseProgress {
  uint64_t said = 0;  // a bit for each complete phrase
  int path = 0;       // how many tokens of the phrase it is in the middle of: its last ones

  friend bool operator==(const PhraseProgress&, const PhraseProgress&) = default;
};

// The progress after one more token.  `tokens` are those before it.  REQUIRES: at most 64 phrases.
PhraseProgress AfterToken(const std::vector<std::vector<int32_t>>& phrases,
                          absl::Span<const int32_t> tokens, const PhraseProgress& progress,
                          int32_t token);

class ConstrainedBeam final : public Search {
 public:
  static constexpr int kMaxPhrases = 64;

  // The most hypotheses alive: the beam size, or enough to give each bank one, up to 16.
  static int Width(const SearchTask& task);

  explicit ConstrainedBeam(const SearchTask& task);

  absl::Span<const LiveHypothesis> live() const override { return live_; }
  int candidates_per_row() const override { return 2 * width_; }
  absl::Span<const int32_t> wanted(int hypothesis) const override { return wanted_[hypothesis]; }
  void Advance(absl::Span<const Candidate> candidates) override;
  bool done() const override { return live_.empty(); }
  // Those that contain the most phrases first.
  std::vector<Hypothesis> Best(int n) const override;
  // As for a Beam; moreover, any hypothesis that may still complete more phrases can win.
  absl::Span<const int32_t> StablePrefix(int n) const override;

 private:
  struct Continuation {
    Candidate candidate;
    float log_prob = 0.0f;  // of the whole hypothesis
    PhraseProgress progress;
    int bank = 0;
  };
  struct Ended {
    Hypothesis hypothesis;
    int said = 0;
  };

  void Rank(absl::Span<const Candidate> candidates);
  void Allocate();
  void Finish(const Continuation& continuation);
  void Insert(Ended ended);
  void Want();
  bool CanImprove() const;
  int BankOf(const PhraseProgress& progress) const;
  int banks() const { return phrase_tokens_ + 1; }
  bool SaysAll(const PhraseProgress& progress) const;

  const SearchOptions options_;
  const int32_t eos_id_;
  const Scoring scoring_;
  const std::vector<std::vector<int32_t>> phrases_;
  const int phrase_tokens_;  // of all of them
  const int width_;
  int length_;
  std::vector<LiveHypothesis> live_, next_;
  std::vector<PhraseProgress> progress_, next_progress_;  // of each live hypothesis
  std::vector<std::vector<int32_t>> wanted_;              // likewise
  std::vector<Continuation> ranked_;                      // of this step, best first
  std::vector<int> room_;                                 // of each bank, in this step
  std::vector<Ended> finished_;                           // best first, at most beam_size
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_SEARCH_CONSTRAINED_BEAM_H_
