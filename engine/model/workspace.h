// The matrices that a forward pass writes on its way.  One per thread, kept from step to step, so
// that a step which is no larger than one before it allocates nothing.

#ifndef DRAGOMAN_ENGINE_MODEL_WORKSPACE_H_
#define DRAGOMAN_ENGINE_MODEL_WORKSPACE_H_

#include <cstdint>
#include <vector>

#include "engine/math/gemm.h"
#include "engine/math/kernels.h"
#include "engine/math/matrix.h"

namespace dragoman {

struct Workspace {
  Matrix<float> x;          // [rows, d_model]: what flows from layer to layer
  Matrix<float> projected;  // [rows, 3 d_model] q | k | v, or [rows, d_model] q
  Matrix<float> context;    // [rows, d_model]: the heads' outputs, interleaved
  Matrix<float> inner;      // [rows, ffn]
  Matrix<float> sublayer;   // [rows, d_model]: what a sublayer adds to x

  std::vector<float> attend;
  std::vector<int32_t> positions;                     // 0, 1, 2, ...: "all of them, in order"
  Matrix<float> keys_values;                          // [source tokens, 2 d_model] of one layer
  Matrix<float> logits;                               // [rows, a tile of the vocabulary]
  std::vector<absl::Span<const int32_t>> candidates;  // of each row
  GemmScratch gemm;

  // The first n of `positions`.
  absl::Span<const int32_t> FirstPositions(int n) {
    while (static_cast<int>(positions.size()) < n) {
      positions.push_back(static_cast<int32_t>(positions.size()));
    }
    return absl::MakeConstSpan(positions).first(n);
  }
  // Scratch for the attention of so many heads over so many positions.
  absl::Span<float> ForAttend(int heads, size_t n) {
    const size_t needed = AttendScratch(heads, n);
    if (attend.size() < needed) attend.resize(needed);
    return absl::MakeSpan(attend);
  }
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_WORKSPACE_H_
