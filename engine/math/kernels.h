// The Transformer's operations other than matrix products, row by row.  Each function keeps the row
// law, because it looks at one row (or one query) alone and sums in an order that depends only on
// the row's length.  SIMD through Highway; the instruction set is chosen when the program starts.

#ifndef DRAGOMAN_ENGINE_MATH_KERNELS_H_
#define DRAGOMAN_ENGINE_MATH_KERNELS_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "engine/math/activation.h"
#include "engine/math/bfloat16.h"
#include "engine/math/matrix.h"

namespace dragoman {

// out = LayerNorm(x + y) in every row (section 3.1 "Add & Norm"; Ba et al. 2016, equation 4):
// (v - mean(v)) / sqrt(variance(v) + epsilon) * gain + bias.  All are [rows, cols], gain and bias
// [cols].  `out` may be `x` or `y`.
void AddAndNorm(MatrixView<const float> x, MatrixView<const float> y, absl::Span<const float> gain,
                absl::Span<const float> bias, float epsilon, MatrixView<float> out);

// out = LayerNorm(x) in every row.  `out` may be `x`.
void LayerNorm(MatrixView<const float> x, absl::Span<const float> gain,
               absl::Span<const float> bias, float epsilon, MatrixView<float> out);

// out = x / sqrt(mean(x^2) + epsilon) * gain in every row (Zhang and Sennrich 2019).  `out` may be
// `x`.
void RootMeanSquareNorm(MatrixView<const float> x, absl::Span<const float> gain, float epsilon,
                        MatrixView<float> out);

// x += y.
void Add(MatrixView<const float> y, MatrixView<float> x);

// The largest element.  NaN is ignored; -inf if nothing else is left.
float MaxOf(absl::Span<const float> x);

// The sum of exp(x[i] - max), where NaN and -inf count as nothing.  REQUIRES: max is finite and not
// less than any element.
float SumExp(absl::Span<const float> x, float max);

// Writes the indices of the elements above `threshold`, ascending, to `indices` (which has room for
// all) and returns their number.
int IndicesAbove(absl::Span<const float> x, float threshold, int32_t* indices);

// x = activation(x), element by element.
void Activate(Activation activation, MatrixView<float> x);

// out = activation(a) * b for x = a | b, side by side (Shazeer 2020). x is [rows, 2 n], out [rows,
// n].
void ActivateAndGate(Activation activation, MatrixView<const float> x, MatrixView<float> out);

// x rounded to bfloat16, the upper half of a float32: to nearest, ties to even.  NaN stays NaN.
void ToBFloat16(MatrixView<const float> x, MatrixView<BFloat16> out);

// The instruction set of these and the other Highway kernels, such as "avx2": the one that runs.  A
// CPU may have a better one for which nothing was compiled; hwy::SupportedTargets() names that,
// too.
std::string HighwayIsa();

// Whether that instruction set multiplies and adds with a single rounding: AVX2 and all later ones
// of x86, and NEON.  Those that do give the same bytes (docs/bytes.md).
bool FusesMulAdd();

// All instruction sets that the kernels were compiled for, as bits of Highway (HWY_AVX2).  The CPU
// may lack some.  AVX3_DL and better ones (Ice Lake, Zen 4) are not among them, because they would
// add nothing: for 117 of the 119 functions of the products, GCC 12 makes the same instructions for
// AVX3_DL as for AVX3, and VNNI has kernels of its own.
int64_t CompiledTargets();

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_KERNELS_H_
