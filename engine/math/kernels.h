// What the Transformer computes beside matrix products, row by row: each function keeps the row law
// because it looks at one row (or one query) alone and sums in an order that depends on nothing but
// its length.  SIMD through Highway, the instruction set chosen when the program starts.

#ifndef DRAGOMAN_ENGINE_MATH_KERNELS_H_
#define DRAGOMAN_ENGINE_MATH_KERNELS_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "engine/math/activation.h"
#include "engine/math/matrix.h"

namespace dragoman {

// out = LayerNorm(x + y) in every row (section 3.1 "Add & Norm"; Ba et al. 2016, equation 4):
// (v - mean(v)) / sqrt(variance(v) + epsilon) * gain + bias.  All are [rows, cols], gain and bias
// [cols].  `out` may be `x` or `y`.
void AddAndNorm(MatrixView<const float> x, MatrixView<const float> y, absl::Span<const float> gain,
                absl::Span<const float> bias, float epsilon, MatrixView<float> out);

// The same without the sum: out = LayerNorm(x).  `out` may be `x`.
void LayerNorm(MatrixView<const float> x, absl::Span<const float> gain,
               absl::Span<const float> bias, float epsilon, MatrixView<float> out);

// out = x / sqrt(mean(x^2) + epsilon) * gain in every row (Zhang and Sennrich 2019).  `out` may be
// `x`.
void RootMeanSquareNorm(MatrixView<const float> x, absl::Span<const float> gain, float epsilon,
                        MatrixView<float> out);

// x += y.
void Add(MatrixView<const float> y, MatrixView<float> x);

// The largest element; NaN is passed over; -inf if there is nothing else.
float MaxOf(absl::Span<const float> x);

// The sum of exp(x[i] - max), where NaN and -inf count as nothing.  REQUIRES: max is finite and at
// least every element.
float SumExp(absl::Span<const float> x, float max);

// Writes the indices of the elements above `threshold`, ascending, to `indices` (room for all of
// them) and returns how many there are.
int IndicesAbove(absl::Span<const float> x, float threshold, int32_t* indices);

// x = activation(x), element by element.
void Activate(Activation activation, MatrixView<float> x);

// out = activation(a) * b for x = a | b, side by side (Shazeer 2020): x is [rows, 2 n], out [rows,
// n].
void ActivateAndGate(Activation activation, MatrixView<const float> x, MatrixView<float> out);

// x rounded to bfloat16, to the nearest and ties to even: the upper half of a float32.  NaN stays
// NaN.
void ToBFloat16(MatrixView<const float> x, MatrixView<uint16_t> out);

// Multi-head attention of each query, a row of `q`, over a list of positions (section 3.2, equation
// 1, without the 1 / sqrt(d_k), which the caller has put into the queries): for each head,
//   out = softmax(q K^T) V
//
// Heads are interleaved: element e of a row of `q`, `keys`, `values` and `out` belongs to head e
// mod heads.  So the lanes of a vector are different heads, and there is no sum across lanes
// anywhere; the permutation is made once, in the weights that compute q, k, v and read out.
//
// `positions` names the rows to attend to, in the order in which they are summed; they are read
// once for several queries.  Keys and values are float32, or bfloat16 as PackBFloat16 lays them.
// `scratch` has at least AttendScratch(heads, positions, queries) elements.
// `bias`, if there is one, is added to the scores: by the distance between a query and a position,
// for consecutive queries and positions.  That of query i and the j-th position of the list stands
// in row j - i from `bias` on; a row has BiasWidth(heads) elements, of which element e belongs to
// head e mod heads. REQUIRES: there is at least one position; q.cols() is a multiple of heads.
void Attend(int heads, MatrixView<const float> q, MatrixView<const float> keys,
            MatrixView<const float> values, absl::Span<const int32_t> positions,
            absl::Span<float> scratch, MatrixView<float> out, const float* bias = nullptr);
void Attend(int heads, MatrixView<const float> q, MatrixView<const uint16_t> keys,
            MatrixView<const uint16_t> values, absl::Span<const int32_t> positions,
            absl::Span<float> scratch, MatrixView<float> out, const float* bias = nullptr);
size_t AttendScratch(int heads, size_t positions, int queries);
size_t BiasWidth(int heads);

// Rows of keys, or of values, rounded to bfloat16 and laid out for Attend on this machine.
void PackBFloat16(int heads, MatrixView<const float> x, MatrixView<uint16_t> out);

// The instruction set that these and the other Highway kernels use, such as "avx2".
std::string HighwayIsa();

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_KERNELS_H_
