// How long things take at the moment, and therefore what can be done in time.  Learned from the
// turns of the workers and from how requests with a deadline fared; no clock, no thread.

#ifndef DRAGOMAN_ENGINE_DECODE_FORECAST_H_
#define DRAGOMAN_ENGINE_DECODE_FORECAST_H_

#include "absl/time/time.h"

namespace dragoman {

class Forecast {
 public:
  // A worker's turn of `rows` rows of work, a `share` of a full one, took this long.
  void OnTurn(double rows, double share, absl::Duration took);

  // A request with a deadline that was begun has ended, in time or not.
  void OnDeadline(bool in_time);

  // How long a sentence of `steps` steps takes from its first turn to its last.
  absl::Duration Steps(int steps) const;
  // How long that many rows of work take with that many workers.
  absl::Duration Work(double rows, int workers) const;

 private:
  double turn_seconds_ = 0;     // of one turn
  double seconds_per_row_ = 0;  // of one worker
  double margin_ = 1;           // by which forecasts have to be stretched to come true
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_FORECAST_H_
