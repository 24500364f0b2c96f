// How much of the time of a worker's turns other requests may take while there are short ones.  The
// number of rows is a poor measure: a hypothesis of a sentence of 500 tokens attends to 500
// positions, so its row takes several times as long as that of a one-liner, and how many times
// depends on the model and the machine.  So the time is measured.  No clock, no thread.
//
// A turn of short requests alone takes 1 ms, say.  A turn in which a long sentence runs as well
// takes 4 ms, so the long one took 3 of them.  Others may take half as much time as the short ones:
// that turn entitles them to 0.5 ms, and each turn without them to 0.5 ms more, so the next 5 turns
// belong to the short ones alone.  Six turns took 9 ms, a third of it for the others.

#ifndef DRAGOMAN_ENGINE_DECODE_TIME_SHARING_H_
#define DRAGOMAN_ENGINE_DECODE_TIME_SHARING_H_

#include "absl/time/time.h"

namespace dragoman {

class TimeSharing {
 public:
  // A turn that served short requests took this long. `others`: it served other requests as well.
  void OnTurn(absl::Duration took, bool others);
  // A turn that used the fraction `used` of its rows, all for others, took this long.
  void OnOthersTurn(absl::Duration took, double used);

  // Whether others may run in the next turn that serves short ones: their debt is negligible.
  bool others_may_run() const { return owed_ <= alone_ / 2; }
  // The fraction of its rows that a turn of others alone may use while a short request may arrive
  // at any moment and would have to wait for its end: such a turn should not take much longer than
  // one of short requests.
  double others_rows() const;

 private:
  double alone_ = 0;   // seconds that a turn takes short requests alone
  double owed_ = 0;    // seconds that others took of the short ones' time
  double others_ = 0;  // seconds that all rows of a turn would take others
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_TIME_SHARING_H_
