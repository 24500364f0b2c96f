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

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "engine/base/status.h"
#include "engine/search/phrase_places.h"
#include "engine/search/phrases.h"
#include "engine/search/scoring.h"
#include "engine/search/searches.h"

namespace dragoman {
namespace {

int CountTokens(const std::vector<Phrase>& phrases) {
  int tokens = 0;
  for (const Phrase& phrase : phrases) tokens += static_cast<int>(phrase.least());
  return tokens;
}

class ConstrainedBeam final : public ScoredSearch {
 public:
  explicit ConstrainedBeam(const SearchTask& task)
      : ScoredSearch(task),
        options_(task.options),
        phrases_(task.phrases, task.rules->word_joins),
        places_(task),
        width_(ConstrainedBeamWidth(task)),
        prefix_length_(static_cast<int>(task.prefix.size())),
        typical_length_(prefix_length_ + std::max(1, static_cast<int>(task.source.size()))),
        length_(prefix_length_) {
    for (size_t p = 0; p < task.phrases.size(); ++p) {
      (task.phrases[p].may_be_missed() ? dispensable_ : needed_) |= uint64_t{1} << p;
      max_losses_.push_back(task.phrases[p].max_loss);
    }
    // A phrase in the prefix need not appear again.
    said_.push_back({phrases_.ProgressOf(task.prefix), {}});
    Want();
  }

  // Enough that some of them end the last word of a phrase.
  int candidates_per_row() const override { return std::max(2 * width_, 16); }
  absl::Span<const int32_t> wanted(int hypothesis) const override { return wanted_[hypothesis]; }

  void Advance(absl::Span<const Candidate> candidates) override {
    DRAGOMAN_CHECK(!done());
    const bool last_step = length_ + 1 == options_.max_length;
    Rank(candidates, last_step);
    Allocate(last_step);
    int ended = 0;
    next_.clear();
    next_said_.clear();
    for (const Continuation& continuation : ranked_) {
      if (continuation.candidate.token == eos_id_ && !last_step) {
        if (ended++ < width_) Finish(continuation);
        continue;
      }
      if (room_[continuation.bank] == 0) continue;
      if (last_step) {
        --room_[continuation.bank];
        Finish(continuation);
        continue;
      }
      LiveHypothesis child = Grown(live_[continuation.candidate.parent], continuation.candidate);
      if (const int kept = scoring_.TokensBeforeRunaway(child.tokens); kept > 0) {
        const uint64_t said = phrases_.Said(absl::MakeConstSpan(child.tokens).first(kept));
        Insert(scoring_.Cut(std::move(child), kept), said,
               {.places = continuation.said.cost.sum().places});
        continue;
      }
      --room_[continuation.bank];
      next_.push_back(std::move(child));
      next_said_.push_back(continuation.said);
    }
    DropHopeless();
    std::swap(live_, next_);
    std::swap(said_, next_said_);
    ++length_;
    if (!live_.empty() && !CanImprove()) live_.clear();
    Want();
  }

  // Those that contain the most phrases first, as far as these may not be missed.
  std::vector<Hypothesis> Best(int n) const override {
    DRAGOMAN_CHECK(done());
    std::vector<Hypothesis> best;
    for (const Ended& ended : finished_) {
      if (static_cast<int>(best.size()) == n) break;
      best.push_back(ended.hypothesis);
    }
    return best;
  }

  // What all hypotheses that can still win share: those that can win in a Beam, and any hypothesis
  // that may still complete more phrases can win.
  absl::Span<const int32_t> StablePrefix(int n) const override {
    CommonPrefix common;
    const size_t wanted = static_cast<size_t>(std::clamp(n, 1, options_.beam_size));
    const size_t found = std::min(wanted, finished_.size());
    for (size_t i = 0; i < found; ++i) common.Add(finished_[i].hypothesis.tokens);
    const bool complete = found == wanted && finished_[wanted - 1].said == std::popcount(needed_);
    for (size_t i = 0; i < live_.size(); ++i) {
      const PhraseCost cost = said_[i].cost.sum();
      const float highest = scoring_.HighestScore(live_[i], cost.log_prob, cost.tokens);
      if (complete && highest < finished_[wanted - 1].rank) continue;
      common.Add(scoring_.SafeTokens(live_[i].tokens));
    }
    return common.tokens();
  }

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

  // Fills ranked_ with the possible continuations, best first.
  void Rank(absl::Span<const Candidate> candidates, bool last_step) {
    ranked_.clear();
    places_.Look(candidates, live_.size());
    for (const Candidate& candidate : candidates) {
      const LiveHypothesis& parent = live_[candidate.parent];
      const float log_prob = parent.log_prob + candidate.log_prob;
      if (!(log_prob > -std::numeric_limits<float>::infinity())) continue;
      const Said& before = said_[candidate.parent];
      Said said = {phrases_.After(parent.tokens, before.progress, candidate.token), before.cost};
      const bool ends = candidate.token == eos_id_ && !last_step;
      if (ends && !MayEnd(said.progress.said)) continue;
      if (candidate.token != eos_id_) {
        const uint64_t begins = phrases_.Begun(said.progress, candidate.token);
        said.cost = places_.After(before.cost, before.progress, said.progress, begins, candidate);
      }
      const int bank = phrases_.TokensSaid(said.progress);
      ranked_.push_back({candidate, log_prob - said.cost.sum().places, said, bank});
    }
    absl::c_sort(ranked_, [](const Continuation& a, const Continuation& b) {
      return std::tie(b.rank, a.candidate.parent, a.candidate.token) <
             std::tie(a.rank, b.candidate.parent, b.candidate.token);
    });
  }

  // Divides the beam among the banks that have continuations: equally, with the remainder going to
  // the fullest banks first.  In the last step, eos is a continuation like all others.
  void Allocate(bool last_step) {
    std::vector<int> available(banks(), 0);
    for (const Continuation& continuation : ranked_) {
      if (continuation.candidate.token != eos_id_ || last_step) ++available[continuation.bank];
    }
    room_.assign(banks(), 0);
    int left = width_;
    while (left > 0) {
      bool any = false;
      for (int bank = banks() - 1; bank >= 0 && left > 0; --bank) {
        if (room_[bank] == available[bank]) continue;
        ++room_[bank];
        --left;
        any = true;
      }
      if (!any) break;
    }
  }

  // Drops those of the next hypotheses that have paid for words of their own in the places where
  // another one has said phrases that they lack, unless it has done so at too high a price.
  void DropHopeless() {
    constexpr float kClearly = 1.0f;  // of log-probability
    std::vector<uint64_t> said;
    for (size_t i = 0; i < next_.size(); ++i) {
      said.push_back(phrases_.Said(next_[i].tokens, next_said_[i].progress));
    }
    const auto hopeless = [&](size_t i) {
      for (size_t j = 0; j < next_.size(); ++j) {
        const uint64_t lacks = said[j] & ~said[i];
        if (lacks == 0 || (said[i] & ~said[j]) != 0) continue;
        const PhraseCost own = next_said_[i].cost.sum(), other = next_said_[j].cost.sum();
        if (own.places < other.places + kClearly) continue;
        const float lead = RankOf(next_[i].log_prob, length_ + 1, next_[i].row, own) -
                           RankOf(next_[j].log_prob, length_ + 1, next_[j].row, other);
        if (lead < LossOf(lacks)) return true;
      }
      return false;
    };
    std::vector<bool> drops;
    for (size_t i = 0; i < next_.size(); ++i) drops.push_back(hopeless(i));
    size_t kept = 0;
    for (size_t i = 0; i < next_.size(); ++i) {
      if (drops[i]) continue;
      if (kept != i) {
        next_[kept] = std::move(next_[i]);
        next_said_[kept] = next_said_[i];
      }
      ++kept;
    }
    next_.resize(kept);
    next_said_.resize(kept);
  }

  // What it costs to lack these phrases.
  float LossOf(uint64_t phrases) const {
    float loss = 0.0f;
    for (size_t p = 0; p < max_losses_.size(); ++p) {
      if ((phrases >> p & 1) != 0) loss += max_losses_[p];
    }
    return loss;
  }

  void Finish(const Continuation& continuation) {
    LiveHypothesis child = Grown(live_[continuation.candidate.parent], continuation.candidate);
    const bool ends_in_eos = continuation.candidate.token == eos_id_;
    const bool forced = options_.forced_eos_id.has_value() && length_ + 1 == options_.max_length;
    const uint64_t said = phrases_.Said(child.tokens, continuation.said.progress);
    Insert(scoring_.Finished(std::move(child), ends_in_eos, forced), said,
           continuation.said.cost.sum());
  }

  // Inserts it after those of equal rank that are already there.
  void Insert(Hypothesis hypothesis, uint64_t said, const PhraseCost& cost) {
    const int length = static_cast<int>(hypothesis.token_log_probs.size());
    const float rank =
        RankOf(hypothesis.log_prob, length, hypothesis.row, cost) - LossOf(dispensable_ & ~said);
    Ended ended = {std::move(hypothesis), std::popcount(needed_ & said), rank};
    const auto better = [](const Ended& a, const Ended& b) {
      return a.said != b.said ? a.said > b.said : a.rank > b.rank;
    };
    if (IsComplete(said)) ++complete_;
    finished_.insert(absl::c_upper_bound(finished_, ended, better), std::move(ended));
    if (static_cast<int>(finished_.size()) > options_.beam_size) finished_.pop_back();
  }

  // What compares hypotheses of different lengths: the score that one would have without its
  // phrases, less what these cost.  Their cost is spread over a translation of the usual length,
  // not over its own, or a hypothesis with an unlikely phrase would rank higher if it went on and
  // on.
  float RankOf(float log_prob, int length, int row, const PhraseCost& cost) const {
    const int rest = std::max(length - cost.tokens, prefix_length_ + 1);
    return scoring_.FinalScore(log_prob - cost.log_prob, rest, row) +
           scoring_.Score(cost.log_prob - cost.places, typical_length_) -
           scoring_.Score(0.0f, typical_length_);
  }

  // For each live hypothesis, finds the tokens that would continue a phrase.
  void Want() {
    wanted_.resize(live_.size());
    for (size_t i = 0; i < live_.size(); ++i) {
      phrases_.Next(live_[i].tokens, said_[i].progress, &wanted_[i]);
    }
  }

  bool MayEnd(uint64_t said) const { return (said & needed_) == needed_; }
  bool IsComplete(uint64_t said) const { return MayEnd(said) && (dispensable_ & ~said) == 0; }
  bool IsFull() const { return static_cast<int>(finished_.size()) == options_.beam_size; }

  // Whether the search continues: until as many hypotheses with all phrases are finished as are
  // wanted and no live one with all phrases could displace one of them.  Before that it ends only
  // if no live one could displace a finished one even if it said everything at no cost.
  bool CanImprove() const {
    const int wanted = std::min(options_.num_hypotheses, options_.beam_size);
    const bool enough = complete_ >= wanted;
    if (!enough && (dispensable_ == 0 || !IsFull())) return true;
    if (enough && options_.early_stopping == EarlyStopping::kFull) return false;
    const Ended& worst = enough ? finished_[wanted - 1] : finished_.back();
    for (size_t i = 0; i < live_.size(); ++i) {
      if (enough && !IsComplete(phrases_.Said(live_[i].tokens, said_[i].progress))) continue;
      const PhraseCost cost = said_[i].cost.sum();
      return RankOf(live_[i].log_prob, length_, live_[i].row, cost) > worst.rank;
    }
    return false;
  }

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

}  // namespace

int ConstrainedBeamWidth(const SearchTask& task) {
  constexpr int kMost = 16;
  const int banks = CountTokens(task.phrases) + 1;
  return std::max(task.options.beam_size, std::min({banks, kMost, task.most_rows}));
}

std::unique_ptr<Search> NewConstrainedBeam(const SearchTask& task) {
  return std::make_unique<ConstrainedBeam>(task);
}

}  // namespace dragoman
