#include "engine/search/constrained_beam.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>
#include <utility>

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
  return std::max(task.options.beam_size, std::min(CountTokens(task.phrases) + 1, kMost));
}

ConstrainedBeam::ConstrainedBeam(const SearchTask& task)
    : options_(task.options),
      eos_id_(task.rules->eos_id),
      scoring_(task),
      phrases_(task.phrases, task.rules->word_joins),
      width_(Width(task)),
      length_(static_cast<int>(task.prefix.size())) {
  for (size_t p = 0; p < task.phrases.size(); ++p) {
    (task.phrases[p].may_be_missed() ? dispensable_ : needed_) |= uint64_t{1} << p;
    max_losses_.push_back(task.phrases[p].max_loss);
  }
  live_.push_back(Beginning(task));
  // A phrase in the prefix need not appear again.
  progress_.push_back(phrases_.ProgressOf(task.prefix));
  Want();
}

void ConstrainedBeam::Advance(absl::Span<const Candidate> candidates) {
  DRAGOMAN_CHECK(!done());
  const bool last_step = length_ + 1 == options_.max_length;
  Rank(candidates, last_step);
  Allocate(last_step);
  int ended = 0;
  next_.clear();
  next_progress_.clear();
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
      Insert(scoring_.Cut(std::move(child), kept), said);
      continue;
    }
    --room_[continuation.bank];
    next_.push_back(std::move(child));
    next_progress_.push_back(continuation.progress);
  }
  std::swap(live_, next_);
  std::swap(progress_, next_progress_);
  ++length_;
  if (!live_.empty() && !CanImprove()) live_.clear();
  Want();
}

// Fills ranked_ with the possible continuations, best first.
void ConstrainedBeam::Rank(absl::Span<const Candidate> candidates, bool last_step) {
  ranked_.clear();
  for (const Candidate& candidate : candidates) {
    const LiveHypothesis& parent = live_[candidate.parent];
    const float log_prob = parent.log_prob + candidate.log_prob;
    if (!(log_prob > -std::numeric_limits<float>::infinity())) continue;
    const PhraseProgress progress =
        phrases_.After(parent.tokens, progress_[candidate.parent], candidate.token);
    const bool ends = candidate.token == eos_id_ && !last_step;
    if (ends && !MayEnd(progress.said)) continue;
    ranked_.push_back({candidate, log_prob, progress, phrases_.TokensSaid(progress)});
  }
  std::sort(ranked_.begin(), ranked_.end(), [](const Continuation& a, const Continuation& b) {
    return std::tie(b.log_prob, a.candidate.parent, a.candidate.token) <
           std::tie(a.log_prob, b.candidate.parent, b.candidate.token);
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

void ConstrainedBeam::Finish(const Continuation& continuation) {
  LiveHypothesis child = Grown(live_[continuation.candidate.parent], continuation.candidate);
  const bool ends_in_eos = continuation.candidate.token == eos_id_;
  const bool forced = options_.forced_eos_id.has_value() && length_ + 1 == options_.max_length;
  const uint64_t said = phrases_.Said(child.tokens, continuation.progress);
  Insert(scoring_.Finished(std::move(child), ends_in_eos,
                           ends_in_eos && !forced ? FinishReason::kEos : FinishReason::kMaxLength),
         said);
}

// Inserts it after those of equal rank that are already there.
void ConstrainedBeam::Insert(Hypothesis hypothesis, uint64_t said) {
  float rank = hypothesis.score;
  for (size_t p = 0; p < max_losses_.size(); ++p) {
    if (((dispensable_ & ~said) >> p & 1) != 0) rank -= max_losses_[p];
  }
  Ended ended = {std::move(hypothesis), std::popcount(needed_ & said), rank};
  const auto better = [](const Ended& a, const Ended& b) {
    return a.said != b.said ? a.said > b.said : a.rank > b.rank;
  };
  if (IsComplete(said)) ++complete_;
  finished_.insert(std::upper_bound(finished_.begin(), finished_.end(), ended, better),
                   std::move(ended));
  if (static_cast<int>(finished_.size()) > options_.beam_size) finished_.pop_back();
}

// For each live hypothesis, finds the tokens that would continue a phrase.
void ConstrainedBeam::Want() {
  wanted_.resize(live_.size());
  for (size_t i = 0; i < live_.size(); ++i) {
    phrases_.Next(live_[i].tokens, progress_[i], &wanted_[i]);
  }
}

// Whether the search continues: until beam_size hypotheses with all phrases are finished and no
// live one with all phrases could displace one of the best.  Before that it ends only if no live
// one could displace one of them even if it said everything at no cost.
bool ConstrainedBeam::CanImprove() const {
  const bool enough = complete_ >= options_.beam_size;
  if (!enough && (dispensable_ == 0 || !IsFull())) return true;
  if (enough && options_.early_stopping == EarlyStopping::kFull) return false;
  for (size_t i = 0; i < live_.size(); ++i) {
    if (enough && !IsComplete(phrases_.Said(live_[i].tokens, progress_[i]))) continue;
    return scoring_.FinalScore(live_[i].log_prob, length_, live_[i].row) > finished_.back().rank;
  }
  return false;
}

absl::Span<const int32_t> ConstrainedBeam::StablePrefix(int n) const {
  CommonPrefix common;
  const size_t wanted = static_cast<size_t>(std::clamp(n, 1, options_.beam_size));
  const size_t found = std::min(wanted, finished_.size());
  for (size_t i = 0; i < found; ++i) common.Add(finished_[i].hypothesis.tokens);
  const bool complete = found == wanted && finished_[wanted - 1].said == std::popcount(needed_);
  for (const LiveHypothesis& live : live_) {
    if (complete && scoring_.HighestScore(live) < finished_[wanted - 1].rank) continue;
    common.Add(scoring_.SafeTokens(live.tokens));
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
