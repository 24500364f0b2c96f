// How a deadline is forecast, by an example.  Turns take 10 ms and the workers do 2,000 rows of
// work a second each.  A sentence that takes 20 steps, behind 800 rows of work for 2 workers, will
// need
//
//   800 / (2 x 2,000) s + 20 x 10 ms = 400 ms        times the margin
//
// The margin learns from what comes of the forecasts: it grows by a tenth when a request that was
// begun comes too late, and falls by a five-hundredth when one is in time.

#include "engine/decode/forecast.h"

#include <algorithm>

namespace dragoman {
namespace {

// Means over about this many of the last turns.
constexpr double kTurns = 20;
// A miss stretches the forecasts by a tenth, and 50 hits take that back: two percent of those that
// are begun may come too late.  (Additive increase and decrease, as in congestion control.)
constexpr double kMiss = 0.1, kHit = 0.002, kMostMargin = 3;

void MoveTowards(double value, double* mean) {
  *mean += (value - *mean) / (*mean == 0 ? 1 : kTurns);
}

}  // namespace

void Forecast::OnTurn(double rows, double share, absl::Duration took) {
  if (rows <= 0) return;
  const double seconds = absl::ToDoubleSeconds(took);
  MoveTowards(seconds, &turn_seconds_);
  // Nearly empty turns say little of how fast full ones are.
  if (share >= 0.5) MoveTowards(seconds / rows, &seconds_per_row_);
}

void Forecast::OnDeadline(bool in_time) {
  margin_ = std::clamp(margin_ + (in_time ? -kHit : kMiss), 1.0, kMostMargin);
}

absl::Duration Forecast::Steps(int steps) const {
  return absl::Seconds(margin_ * turn_seconds_ * steps);
}

absl::Duration Forecast::Work(double rows, int workers) const {
  return absl::Seconds(margin_ * seconds_per_row_ * rows / workers);
}

}  // namespace dragoman
