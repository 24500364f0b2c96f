// From floats to 8-bit integers.
//
// A weight is symmetric around zero and gets a scale for each output.  A row of activations gets a
// scale and a low end of its own, so that it uses all 256 values wherever its range lies, whether
// it is the output of a ReLU, which is never negative, or has negative numbers.  A row's numbers
// depend on nothing outside the row, as the row law requires.

#ifndef DRAGOMAN_ENGINE_MATH_INT8_QUANTIZE_H_
#define DRAGOMAN_ENGINE_MATH_INT8_QUANTIZE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "engine/math/matrix.h"

namespace dragoman {

// Rows of activations in 8 bits; unsigned, because VNNI instructions want one unsigned operand.
struct QuantizedRows {
  // Makes room; the content is unspecified.  Allocates only to grow.
  void Resize(int rows, int its_inputs);

  int inputs = 0;
  Matrix<uint8_t> values;     // [rows, inputs rounded up to a multiple of 4]
  std::vector<float> scales;  // [rows] or more
  std::vector<float> lows;    // [rows] or more: the value that 0 stands for
};

// Quantizes the rows [first, end) of `x`, each by its own range.  A row with an infinite value, or
// with a range beyond float32, gets a scale of NaN, so that everything computed from it is NaN.
// REQUIRES: x has columns, `rows` was resized to the size of x.
void QuantizeRows(MatrixView<const float> x, int first, int end, QuantizedRows* rows);

// Quantizes the weights of one output into `values`.  Returns their scale, or NaN if one is not
// finite.  The scale is `step` unless that is 0; a step is given for weights that already were
// whole multiples of it, from -127 to 127.  Otherwise the largest weight determines the scale.
float QuantizeWeights(absl::Span<const float> weights, float step, int8_t* values);

// The step of one output; `steps` has one for each, or none.
inline float StepOf(absl::Span<const float> steps, int output) {
  return steps.empty() ? 0.0f : steps[output];
}

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_INT8_QUANTIZE_H_
