// How many rows of a model a worker should decode in one turn, to be about as fast as with any
// number.  Measured when the model is loaded, on the actual machine.

#ifndef DRAGOMAN_ENGINE_DECODE_TURN_ROWS_H_
#define DRAGOMAN_ENGINE_DECODE_TURN_ROWS_H_

#include <map>
#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "engine/base/clock.h"
#include "engine/model/model.h"

namespace dragoman {

// The number of rows unless another is clearly faster.
inline constexpr int kUsualRows = 128;

// Rows per second in each round of measurements, by the number of rows of a step.
using RowSpeeds = std::map<int, std::vector<double>>;

// What to measure with: the CPU time of this thread, so that other processes do not count, or real
// time if several threads share the work.
Clock TurnRowsClock(int threads);

// Decodes with 16, 32, 64, 128 and 256 rows (4 hypotheses per sentence), a short while each,
// several times over.  What is not faster than the usual number is dropped on the way.  Once `most`
// has passed, nothing more is tried; of the usual number there is always a round.
RowSpeeds MeasureRowSpeeds(const std::shared_ptr<const Model>& model, int threads,
                           const Clock& clock, absl::Duration most = absl::Milliseconds(1500));

// The usual number, or the fastest of those that beat it by three percent in three rounds of four.
// So where it makes no difference, noise does not decide.  REQUIRES: the usual number has a round.
int ChooseTurnRows(const RowSpeeds& speeds);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_TURN_ROWS_H_
