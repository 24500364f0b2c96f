// How many rows of a model a worker should decode in one turn: few, so that a turn is short, but so
// many that it is about as fast as with any number.  Measured when the model is loaded, on the
// machine as it is.

#ifndef DRAGOMAN_ENGINE_DECODE_TURN_ROWS_H_
#define DRAGOMAN_ENGINE_DECODE_TURN_ROWS_H_

#include <map>
#include <memory>

#include "absl/time/time.h"
#include "engine/base/clock.h"
#include "engine/model/model.h"

namespace dragoman {

// Rows per second by rows of a step.
using RowSpeeds = std::map<int, double>;

// Decodes with 64 rows (4 hypotheses a sentence), then with 32, 16 and 8, then with 128 and 256,
// each way for as long as it is not clearly slower and `most` has not passed.
RowSpeeds MeasureRowSpeeds(const std::shared_ptr<const Model>& model, int threads,
                           const Clock& clock, absl::Duration most = absl::Seconds(2));

// The least number of rows that is within two percent of the fastest.  REQUIRES: not empty.
int ChooseTurnRows(const RowSpeeds& speeds);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_TURN_ROWS_H_
