// What the Transformer computes beside matrix products, row by row: each function keeps the row law
// because it looks at one row (or one query) alone and sums in an order that depends on nothing but
// its length.  SIMD through Highway, the instruction set chosen when the program starts.

#ifndef DRAGOMAN_ENGINE_MATH_KERNELS_H_
#define DRAGOMAN_ENGINE_MATH_KERNELS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "engine/math/activation.h"
#include "engine/math/matrix.h"

namespace dragoman {

// out = LayerNorm(x + y) in every row (section 3.1 "Add & Norm"; Ba et al. 2016, equation 4):
// (v - mean(v)) / sqrt(variance(v) + epsilon) * gain + bias.  All are [rows, cols], gain and bias
// [cols].  `out` may be `x` or `y`.
void AddAndNorm(MatrixView<const float> x, MatrixView<const float> y, absl::Span<const float> gain,
                absl::Span<const float> bias, float epsilon, MatrixView<float> out);

// x = activation(x), element by element.
void Activate(Activation activation, MatrixView<float> x);

// x rounded to bfloat16, to the nearest and ties to even: the upper half of a float32.  NaN stays
// NaN.
void ToBFloat16(MatrixView<const float> x, MatrixView<uint16_t> out);

// Multi-head attention of one query over a list of positions (section 3.2, equation 1, without the
// 1 / sqrt(d_k), which the caller has put into the query): for each head,
//   out = softmax(q K^T) V
// where a head is a block of q.size() / heads columns of q, of every row of `keys` and `values`,
// and of out.  `positions` names the rows to attend to, in the order in which they are summed.
// `weights` is scratch of at least heads x positions.size() elements.
// REQUIRES: there is at least one position.
void Attend(int heads, absl::Span<const float> q, MatrixView<const float> keys,
            MatrixView<const float> values, absl::Span<const int32_t> positions,
            absl::Span<float> weights, absl::Span<float> out);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_KERNELS_H_
