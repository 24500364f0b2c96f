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
// A hypothesis may end once it contains all phrases.  One that abandons a phrase in the middle, or
// continues its last word ("Hausboot"), falls back to the bank of the phrases that it has
// completed.
//
// Where the network's attention says which words of the source a phrase stands for, hypotheses pay
// for a phrase in another place (phrase_places.h).
//
// A hypothesis may also end without phrases that may be missed.  Each of those that it lacks costs
// it their max_loss, so that it wins only over hypotheses whose scores are lower by more.

#ifndef DRAGOMAN_ENGINE_SEARCH_CONSTRAINED_BEAM_H_
#define DRAGOMAN_ENGINE_SEARCH_CONSTRAINED_BEAM_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/search/phrase_places.h"
#include "engine/search/phrases.h"
#include "engine/search/scoring.h"

namespace dragoman {

class ConstrainedBeam final : public ScoredSearch {
 public:
  // The most hypotheses alive: the beam size, or enough to give each bank one, up to 16 and the
  // task's most.
  static int Width(const SearchTask& task);

  explicit ConstrainedBeam(const SearchTask& task);

  // Enough that some of them end the last word of a phrase.
  int candidates_per_row() const override { return std::max(2 * width_, 16); }
  absl::Span<const int32_t> wanted(int hypothesis) const override { return wanted_[hypothesis]; }
  void Advance(absl::Span<const Candidate> candidates) override;
  // Those that contain the most phrases first, as far as these may not be missed.
  std::vector<Hypothesis> Best(int n) const override;
  // What all hypotheses that can still win share: those that can win in a Beam, and any hypothesis
  // that may still complete more phrases can win.
  absl::Span<const int32_t> StablePrefix(int n) const override;

 private:
  // What a hypothesis has said, and what that has cost it.
  struct Said {
    PhraseProgress progress;
    PhraseCosts cost;
  };
  struct Continuation {
    Candidate candidate;
    float rank = 0.0f;  // the log-probability of the whole hypothesis, less what places cost it
    Said said;
    int bank = 0;
  };
  struct Ended {
    Hypothesis hypothesis;
    int said = 0;       // phrases that may not be missed
    float rank = 0.0f;  // less what those cost that it lacks
  };

  void Rank(absl::Span<const Candidate> candidates, bool last_step);
  void Allocate(bool last_step);
  void DropHopeless();
  float LossOf(uint64_t phrases) const;
  void Finish(const Continuation& continuation);
  void Insert(Hypothesis hypothesis, uint64_t said, const PhraseCost& cost);
  float RankOf(float log_prob, int length, int row, const PhraseCost& cost) const;
  void Want();
  bool MayEnd(uint64_t said) const { return (said & needed_) == needed_; }
  bool IsComplete(uint64_t said) const { return MayEnd(said) && (dispensable_ & ~said) == 0; }
  bool IsFull() const { return static_cast<int>(finished_.size()) == options_.beam_size; }
  bool CanImprove() const;
  int banks() const { return phrases_.tokens() + 1; }

  const SearchOptions options_;
  const Phrases phrases_;
  PhrasePlaces places_;
  std::vector<float> max_losses_;  // by phrase
  uint64_t needed_ = 0;            // phrases that may not be missed: a bit for each
  uint64_t dispensable_ = 0;       // the others
  const int width_;
  const int prefix_length_;
  const int typical_length_;  // of a translation
  int length_;
  std::vector<LiveHypothesis> next_;
  std::vector<Said> said_, next_said_;        // by each live hypothesis
  std::vector<std::vector<int32_t>> wanted_;  // of each live hypothesis
  std::vector<Continuation> ranked_;          // of this step, best first
  std::vector<int> room_;                     // of each bank, in this step
  std::vector<Ended> finished_;               // best first, at most beam_size
  int complete_ = 0;                          // that have ended with all phrases
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_SEARCH_CONSTRAINED_BEAM_H_
