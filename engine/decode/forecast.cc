// How a deadline is forecast, by example.  Turns take 10 ms, and do work that is priced at 8 ms.  A
// sentence that takes 20 steps, behind 320 ms of work for 2 workers, will need
//
//   320 ms x 10 / 8 / 2 + 20 x 10 ms = 400 ms        times the margin
//
// The margin adapts to the outcome: it grows by a tenth when a started request is too late, and
// falls by a five-hundredth when one is in time.

#include "engine/decode/forecast.h"

#include <algorithm>

namespace dragoman {
namespace {

// Averages over about this many of the last turns.
constexpr double kTurns = 20;
// A miss raises the margin by a tenth, and 50 hits undo that: two percent of the started requests
// may be too late.  (Additive increase and decrease, as in congestion control.)
constexpr double kMiss = 0.1, kHit = 0.002, kMostMargin = 3;

void MoveTowards(double value, double* mean) {
  *mean += (value - *mean) / (*mean == 0 ? 1 : kTurns);
}

}  // namespace

void Forecast::OnTurn(double seconds, double share, double short_part, absl::Duration took) {
  if (seconds <= 0) return;
  const double taken = absl::ToDoubleSeconds(took);
  MoveTowards(taken, &turn_seconds_);
  short_part_ += (short_part - short_part_) / kTurns;
  // Nearly empty turns say little about the speed of full ones.
  if (share >= 0.5) MoveTowards(taken / seconds, &slowness_);
}

void Forecast::OnDeadline(bool in_time) {
  margin_ = std::clamp(margin_ + (in_time ? -kHit : kMiss), 1.0, kMostMargin);
}

absl::Duration Forecast::Steps(int steps) const {
  return absl::Seconds(margin_ * turn_seconds_ * steps);
}

absl::Duration Forecast::Work(double seconds, int workers) const {
  return absl::Seconds(margin_ * slowness_ * seconds / workers);
}

}  // namespace dragoman
