// How long turns and requests take at the moment, and so what can be done in time.  Learned from
// the workers' turns and from the outcome of requests with a deadline.  No clock, no thread.

#ifndef DRAGOMAN_ENGINE_DECODE_FORECAST_H_
#define DRAGOMAN_ENGINE_DECODE_FORECAST_H_

#include "absl/time/time.h"

namespace dragoman {

class Forecast {
 public:
  // A worker has completed a turn of so many seconds of work, as priced, in this time.  `share` is
  // the fraction of the turn's rows that it used, and `short_part` that of the work that was for
  // short requests.
  void OnTurn(double seconds, double share, double short_part, absl::Duration took);

  // A request with a deadline that was started has ended, in time or not.
  void OnDeadline(bool in_time);

  // How long a sentence of `steps` steps takes from its first turn to its last.
  absl::Duration Steps(int steps) const;
  // How long this much work takes with this many workers, as priced.
  absl::Duration Work(double seconds, int workers) const;
  // The part of the work that was for short requests.
  double short_part() const { return short_part_; }

 private:
  double turn_seconds_ = 0;  // of one turn
  double slowness_ = 0;      // seconds that full turns take for a second of priced work
  double short_part_ = 0;
  double margin_ = 1;  // the factor by which forecasts are corrected
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_FORECAST_H_
