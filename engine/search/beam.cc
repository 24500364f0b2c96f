// A step of a beam of 2, with log-probabilities (h: a live hypothesis, </s>: eos):
//
//   live          h0 "Das"  -0.2          h1 "Ein"  -1.0
//   candidates    h0: ist -0.3, </s> -1.9, Haus -2.5, war -3.0      h1: Haus -0.1, ...
//   ranked        h0 ist -0.5 | h1 Haus -1.1 | h0 </s> -2.1 | h0 Haus -2.7        the best 2 x 2
//
//   h0 ist        lives on
//   h1 Haus       lives on: the beam is full
//   h0 </s>       ranks third and not among the first two: dropped
//
// Twice the beam size is ranked, so that two are sure to live on even if two others end.

#include "engine/search/beam.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "engine/base/status.h"

namespace dragoman {

Beam::Beam(const SearchTask& task, const LiveHypothesis& beginning)
    : options_(task.options),
      eos_id_(task.rules->eos_id),
      scoring_(task),
      margins_(task.margins),
      candidates_per_row_(options_.beam_size == 1 ? 1 : 2 * options_.beam_size),
      finished_capacity_(static_cast<size_t>(
          std::max(1.0f, std::round(static_cast<float>(options_.beam_size) * options_.patience)))),
      length_(static_cast<int>(beginning.tokens.size())) {
  const size_t beam_size = static_cast<size_t>(options_.beam_size);
  for (std::vector<LiveHypothesis>* hypotheses : {&live_, &next_}) {
    hypotheses->resize(beam_size);
    for (LiveHypothesis& hypothesis : *hypotheses) {
      hypothesis.tokens.reserve(options_.max_length);
      hypothesis.token_log_probs.reserve(options_.max_length);
      if (margins_) hypothesis.token_margins.reserve(options_.max_length);
    }
  }
  live_[0].tokens.assign(beginning.tokens.begin(), beginning.tokens.end());
  live_[0].token_log_probs.assign(beginning.token_log_probs.begin(),
                                  beginning.token_log_probs.end());
  if (margins_) live_[0].token_margins = beginning.token_margins;
  live_[0].log_prob = beginning.log_prob;
  live_[0].row = beginning.row;
  ranked_.reserve(beam_size * candidates_per_row_);
  finished_.reserve(finished_capacity_ + 1);
}

absl::Span<const LiveHypothesis> Beam::live() const {
  return absl::MakeConstSpan(live_).first(live_size_);
}

void Beam::Advance(absl::Span<const Candidate> candidates) {
  DRAGOMAN_CHECK(!done_);
  Rank(candidates);
  const bool last_step = length_ + 1 == options_.max_length;
  int next_size = 0;
  for (int rank = 0; rank < static_cast<int>(ranked_.size()); ++rank) {
    const Continuation& continuation = ranked_[rank];
    if (last_step || continuation.candidate.token == eos_id_) {
      if (rank < options_.beam_size) Finish(continuation);
    } else if (next_size < options_.beam_size) {
      LiveHypothesis& child = next_[next_size];
      Grow(continuation, &child);
      const int kept = scoring_.TokensBeforeRunaway(child.tokens);
      if (kept > 0) {
        FinishRunaway(child, kept);
      } else {
        ++next_size;
      }
    }
  }
  std::swap(live_, next_);
  live_size_ = next_size;
  ++length_;
  if (live_size_ == 0 || !CanImprove()) {
    live_size_ = 0;
    done_ = true;
  }
}

std::vector<Hypothesis> Beam::Best(int n) const {
  DRAGOMAN_CHECK(done_);
  const size_t count = std::min(static_cast<size_t>(std::max(n, 0)), finished_.size());
  return std::vector<Hypothesis>(finished_.begin(), finished_.begin() + count);
}

absl::Span<const int32_t> Beam::StablePrefix(int n) const {
  CommonPrefix common;
  const size_t wanted = std::clamp(static_cast<size_t>(n), size_t{1}, finished_capacity_);
  const size_t found = std::min(wanted, finished_.size());
  for (size_t i = 0; i < found; ++i) common.Add(finished_[i].tokens);
  for (const LiveHypothesis& live : live()) {
    if (found == wanted && scoring_.HighestScore(live) < finished_[wanted - 1].score) continue;
    common.Add(scoring_.SafeTokens(live.tokens));
  }
  return common.tokens();
}

// Fills ranked_ with the best continuations of all rows.
void Beam::Rank(absl::Span<const Candidate> candidates) {
  ranked_.clear();
  for (const Candidate& candidate : candidates) {
    const float log_prob = live_[candidate.parent].log_prob + candidate.log_prob;
    if (log_prob > -std::numeric_limits<float>::infinity()) {  // false for NaN
      ranked_.push_back({candidate, log_prob});
    }
  }
  const auto better = [](const Continuation& a, const Continuation& b) {
    return std::tie(b.log_prob, a.candidate.parent, a.candidate.token) <
           std::tie(a.log_prob, b.candidate.parent, b.candidate.token);
  };
  const size_t kept = std::min(ranked_.size(), static_cast<size_t>(candidates_per_row_));
  std::partial_sort(ranked_.begin(), ranked_.begin() + kept, ranked_.end(), better);
  ranked_.resize(kept);
}

// The position of a score among the finished hypotheses; of equal scores the earlier one ranks
// first.
std::vector<Hypothesis>::const_iterator Beam::PlaceOf(float score) const {
  return absl::c_upper_bound(
      finished_, score, [](float s, const Hypothesis& hypothesis) { return s > hypothesis.score; });
}

void Beam::Insert(std::vector<Hypothesis>::const_iterator place, Hypothesis hypothesis) {
  finished_.insert(place, std::move(hypothesis));
  if (finished_.size() > finished_capacity_) finished_.pop_back();
}

// Adds a continuation to the finished ones, if it is among the best of them.
void Beam::Finish(const Continuation& continuation) {
  const auto place =
      PlaceOf(scoring_.FinalScore(continuation.log_prob, length_ + 1, continuation.candidate.row));
  if (place - finished_.begin() == static_cast<std::ptrdiff_t>(finished_capacity_)) return;

  const bool ends_in_eos = continuation.candidate.token == eos_id_;
  const bool forced = options_.forced_eos_id.has_value() && length_ + 1 == options_.max_length;
  LiveHypothesis child = Grown(live_[continuation.candidate.parent], continuation.candidate);
  Insert(place, scoring_.Finished(std::move(child), ends_in_eos, forced));
}

// For a hypothesis that has run away: adds its part before the repetition to the finished ones.
void Beam::FinishRunaway(const LiveHypothesis& live, int kept) {
  Hypothesis hypothesis = scoring_.Cut(live, kept);
  const auto place = PlaceOf(hypothesis.score);
  Insert(place, std::move(hypothesis));
}

// Turns `child` into the live hypothesis that results from the continuation.
void Beam::Grow(const Continuation& continuation, LiveHypothesis* child) const {
  const LiveHypothesis& parent = live_[continuation.candidate.parent];
  child->parent = continuation.candidate.parent;
  child->tokens.assign(parent.tokens.begin(), parent.tokens.end());
  child->tokens.push_back(continuation.candidate.token);
  child->token_log_probs.assign(parent.token_log_probs.begin(), parent.token_log_probs.end());
  child->token_log_probs.push_back(continuation.candidate.log_prob);
  if (margins_) {
    child->token_margins.assign(parent.token_margins.begin(), parent.token_margins.end());
    child->token_margins.push_back(continuation.candidate.margin);
  }
  child->log_prob = continuation.log_prob;
  child->row = continuation.candidate.row;
}

// Whether the search continues: whether a live hypothesis can still become one of the best finished
// ones.  The usual heuristic scores the best live hypothesis as if it ended now.
bool Beam::CanImprove() const {
  if (finished_.size() < finished_capacity_) return true;
  if (options_.early_stopping == EarlyStopping::kFull) return false;
  const LiveHypothesis& best = live_[0];
  const float score =
      options_.early_stopping == EarlyStopping::kNever
          ? scoring_.Score(best.log_prob,
                           options_.length_penalty > 0.0f ? options_.max_length : length_)
          : scoring_.FinalScore(best.log_prob, length_, best.row);
  return score > finished_.back().score;
}

}  // namespace dragoman
