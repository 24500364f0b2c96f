#include "engine/search/constrained_beam.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

int CountTokens(const std::vector<Phrase>& phrases) {
  int tokens = 0;
  for (const Phrase& phrase : phrases) tokens += static_cast<int>(phrase.least());
  return tokens;
}

}  // namespace

int ConstrainedBeam::Width(const SearchTask& task) {
  constexpr int kMost = 16;
  const int banks = CountTokens(task.phrases) + 1;
  return std::max(task.options.beam_size, std::min({banks, kMost, task.most_rows}));
}

ConstrainedBeam::ConstrainedBeam(const SearchTask& task)
    : ScoredSearch(task),
      options_(task.options),
      phrases_(task.phrases, task.rules->word_joins),
      places_(task),
      width_(Width(task)),
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

void ConstrainedBeam::Advance(absl::Span<const Candidate> candidates) {
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

// Fills ranked_ with the possible continuations, best first.
void ConstrainedBeam::Rank(absl::Span<const Candidate> candidates, bool last_step) {
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
void ConstrainedBeam::Allocate(bool last_step) {
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
void ConstrainedBeam::DropHopeless() {
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
float ConstrainedBeam::LossOf(uint64_t phrases) const {
  float loss = 0.0f;
  for (size_t p = 0; p < max_losses_.size(); ++p) {
    if ((phrases >> p & 1) != 0) loss += max_losses_[p];
  }
  return loss;
}

void ConstrainedBeam::Finish(const Continuation& continuation) {
  LiveHypothesis child = Grown(live_[continuation.candidate.parent], continuation.candidate);
  const bool ends_in_eos = continuation.candidate.token == eos_id_;
  const bool forced = options_.forced_eos_id.has_value() && length_ + 1 == options_.max_length;
  const uint64_t said = phrases_.Said(child.tokens, continuation.said.progress);
  Insert(scoring_.Finished(std::move(child), ends_in_eos, forced), said,
         continuation.said.cost.sum());
}

// What compares hypotheses of different lengths: the score that one would have without its phrases,
// less what these cost.  Their cost is spread over a translation of the usual length, not over its
// own, or a hypothesis with an unlikely phrase would rank higher if it went on and on.
float ConstrainedBeam::RankOf(float log_prob, int length, int row, const PhraseCost& cost) const {
  const int rest = std::max(length - cost.tokens, prefix_length_ + 1);
  return scoring_.FinalScore(log_prob - cost.log_prob, rest, row) +
         scoring_.Score(cost.log_prob - cost.places, typical_length_) -
         scoring_.Score(0.0f, typical_length_);
}

// Inserts it after those of equal rank that are already there.
void ConstrainedBeam::Insert(Hypothesis hypothesis, uint64_t said, const PhraseCost& cost) {
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

// For each live hypothesis, finds the tokens that would continue a phrase.
void ConstrainedBeam::Want() {
  wanted_.resize(live_.size());
  for (size_t i = 0; i < live_.size(); ++i) {
    phrases_.Next(live_[i].tokens, said_[i].progress, &wanted_[i]);
  }
}

// Whether the search continues: until as many hypotheses with all phrases are finished as are
// wanted and no live one with all phrases could displace one of them.  Before that it ends only if
// no live one could displace a finished one even if it said everything at no cost.
bool ConstrainedBeam::CanImprove() const {
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

absl::Span<const int32_t> ConstrainedBeam::StablePrefix(int n) const {
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

std::vector<Hypothesis> ConstrainedBeam::Best(int n) const {
  DRAGOMAN_CHECK(done());
  std::vector<Hypothesis> best;
  for (const Ended& ended : finished_) {
    if (static_cast<int>(best.size()) == n) break;
    best.push_back(ended.hypothesis);
  }
  return best;
}

}  // namespace dragoman
