// How the scores of a step reach the code that ranks them: one tile of the vocabulary at a time,
// while it is still in the cache.

#ifndef DRAGOMAN_ENGINE_MODEL_LOGITS_SINK_H_
#define DRAGOMAN_ENGINE_MODEL_LOGITS_SINK_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "engine/math/matrix.h"

namespace dragoman {

// Some columns of some rows of the logits.  Rows with a shortlist come in tiles of their own.
struct LogitsTile {
  int first_row = 0;
  MatrixView<float> logits;          // [rows, tokens]
  int first_token = 0;               // the tokens are first_token, first_token + 1, ...
  absl::Span<const int32_t> tokens;  // or these, ascending, if not empty
};

// Takes the tiles; those of a row arrive in the order of their tokens.  May overwrite the logits.
// Members of a team call it concurrently, for different rows.
using LogitsSink = absl::FunctionRef<void(const LogitsTile&)>;

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_LOGITS_SINK_H_
