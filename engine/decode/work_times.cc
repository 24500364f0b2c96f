// An example.  A step of 4 rows that attend to 100 positions is expected to take 300 us for the
// step, 200 for the rows and 20 for the positions, and takes 572 us: a tenth more.  Who made it
// slower is unknown, so each part is raised according to its size.  Steps that differ in their
// parts tell them apart in the end.  Parts are multiplied, never added to, so none gets negative.

#include "engine/decode/work_times.h"

#include <algorithm>
#include <cmath>

namespace dragoman {
namespace {

// The part of an error that is corrected at once; more at the beginning.
constexpr double kNew = 0.05, kNewAtFirst = 0.5;
constexpr int kFirst = 8;
// Work that took much longer than expected was disturbed by something else.
constexpr double kMostWrong = 1;

}  // namespace

// The normalized least mean squares filter, on the logarithms of the parts: the sum changes by the
// given part of the error.
void PhaseTimes::Learn(double units, double positions, absl::Duration took) {
  const double seconds = absl::ToDoubleSeconds(took);
  const double position = position_.load(std::memory_order_relaxed);
  const double parts[] = {each(), units * unit(), positions * position};
  const double expected = parts[0] + parts[1] + parts[2];
  if (seconds <= 0 || expected <= 0) return;
  const bool first = learned_.load(std::memory_order_relaxed) < kFirst;
  if (first) learned_.fetch_add(1, std::memory_order_relaxed);
  double wrong = std::log(seconds / expected);
  if (!first) wrong = std::clamp(wrong, -kMostWrong, kMostWrong);
  double squares = 0;
  for (const double part : parts) squares += part * part;
  const double by = (first ? kNewAtFirst : kNew) * wrong * expected / squares;
  each_.store(parts[0] * std::exp(by * parts[0]), std::memory_order_relaxed);
  unit_.store(unit() * std::exp(by * parts[1]), std::memory_order_relaxed);
  position_.store(position * std::exp(by * parts[2]), std::memory_order_relaxed);
}

}  // namespace dragoman
