// How many rows of a model a worker should decode in one turn: few enough that a turn is short, but
// enough to be about as fast as any number.  Measured when the model is loaded, on the actual
// machine.

#ifndef DRAGOMAN_ENGINE_DECODE_TURN_ROWS_H_
#define DRAGOMAN_ENGINE_DECODE_TURN_ROWS_H_

#include <map>
#include <memory>

#include "absl/time/time.h"
#include "engine/base/clock.h"
#include "engine/model/model.h"

namespace dragoman {

// Rows per second, by the number of rows of a step.
using RowSpeeds = std::map<int, double>;

// Decodes with 64 rows (4 hypotheses per sentence), then with 32, 16 and 8, then with 128 and 256;
// stops in each direction when it becomes clearly slower or `most` has passed.
RowSpeeds MeasureRowSpeeds(const std::shared_ptr<const Model>& model, int threads,
                           const Clock& clock, absl::Duration most = absl::Seconds(2));

// The smallest number of rows within two percent of the fastest.  REQUIRES: not empty.
int ChooseTurnRows(const RowSpeeds& speeds);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_TURN_ROWS_H_
