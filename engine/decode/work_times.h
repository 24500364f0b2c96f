// How long a model's work takes on this machine.  Learned from the work itself: nobody sets it.
//
// A decoder step takes some time whatever it does, some for every row, and some for every position
// that a row attends to: a hypothesis of a sentence of 500 tokens attends to 500 positions, so its
// row takes several times as long as that of a one-liner, and how many times depends on the model
// and the machine.  Encoding is alike, with source tokens for rows.
//
// Thread-safe.

#ifndef DRAGOMAN_ENGINE_DECODE_WORK_TIMES_H_
#define DRAGOMAN_ENGINE_DECODE_WORK_TIMES_H_

#include <atomic>

#include "absl/time/time.h"

namespace dragoman {

// seconds = each + unit * units + position * positions, where units are rows or source tokens, and
// positions what all of them attend to, summed up.
class PhaseTimes {
 public:
  constexpr PhaseTimes(double each, double unit, double position)
      : each_(each), unit_(unit), position_(position) {}

  // What it takes whatever is done.
  double each() const { return each_.load(std::memory_order_relaxed); }
  double unit() const { return unit_.load(std::memory_order_relaxed); }
  // What this much takes besides.
  double Of(double units, double positions) const {
    return units * unit() + positions * position_.load(std::memory_order_relaxed);
  }

  // So much took this long.
  void Learn(double units, double positions, absl::Duration took);

 private:
  std::atomic<double> each_, unit_, position_;
  std::atomic<int> learned_ = 0;
};

struct WorkTimes {
  // Until the first steps have been measured: a small model on one core.
  PhaseTimes step{300e-6, 50e-6, 0.2e-6};
  PhaseTimes encode{0, 20e-6, 0.08e-6};
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_WORK_TIMES_H_
