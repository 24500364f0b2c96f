// How long turns and requests take at the moment, and so what can be done in time.  Learned from
// the workers' turns and from the outcome of requests with a deadline.  No clock, no thread.

#ifndef DRAGOMAN_ENGINE_DECODE_FORECAST_H_
#define DRAGOMAN_ENGINE_DECODE_FORECAST_H_

#include "absl/time/time.h"

namespace dragoman {

class Forecast {
 public:
  // A worker has completed a turn of `rows` rows of work, the fraction `share` of a full turn, in
  // this time.
  void OnTurn(double rows, double share, absl::Duration took);

  // A request with a deadline that was started has ended, in time or not.
  void OnDeadline(bool in_time);

  // How long a sentence of `steps` steps takes from its first turn to its last.
  absl::Duration Steps(int steps) const;
  // How long this many rows of work take with this many workers.
  absl::Duration Work(double rows, int workers) const;

 private:
  double turn_seconds_ = 0;     // of one turn
  double seconds_per_row_ = 0;  // of one worker
  double margin_ = 1;           // the factor by which forecasts are corrected
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_FORECAST_H_
