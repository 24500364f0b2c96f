// The product of Int8Gemm with a few of its outputs, which are named at each call: for sentences
// whose translation is made of the tokens of a shortlist.
//
// Int8Gemm's panels interleave 64 outputs, so that one output alone cannot be read from them.  Here
// the weights of an output lie in one piece, and nothing needs to be gathered or packed before a
// product: of 1,000 outputs with 512 inputs, 512 kB are read.  It costs the memory of the weights
// once more.

#ifndef DRAGOMAN_ENGINE_MATH_INT8_ROWS_H_
#define DRAGOMAN_ENGINE_MATH_INT8_ROWS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/base/weight_memory.h"
#include "engine/math/int8_gemm.h"
#include "engine/math/matrix.h"

namespace dragoman {

// Immutable once it is set, so safe for concurrent use.
class Int8Rows {
 public:
  // What an output needs beside its weights.
  struct Output {
    float scale = 0.0f;
    float bias = 0.0f;
    float sum = 0.0f;  // of the weights, scaled
  };

  // Zeros until they are Set.  REQUIRES: inputs <= Int8Gemm::kMaxInputs.
  Int8Rows(int outputs, int inputs);

  // The outputs first, first + 1, ...: `weight` is [as many, inputs()], `bias` has as many
  // elements. INVALID_ARGUMENT if a weight is infinite or NaN.  Only before it is shared.
  // `step` is that of all of them (QuantizeWeights).
  absl::Status Set(int first, MatrixView<const float> weight, absl::Span<const float> bias,
                   float step = 0.0f);

  int inputs() const { return inputs_; }
  int outputs() const { return static_cast<int>(constants_.size()); }

  // to[i] += factor * w[output][i], the quantized weight.  REQUIRES: `to` has inputs() elements.
  void AddWeights(int output, float factor, absl::Span<float> to) const;

  // y[r][j] = output outputs[j] of row r of x; keeps the row law, and a value does not depend on
  // what other outputs are named.  REQUIRES: x has inputs() columns and as many rows as y, y has as
  // many columns as there are `outputs`, which are less than outputs().
  void Apply(const QuantizedRows& x, absl::Span<const int32_t> outputs, MatrixView<float> y) const;

 private:
  int8_t* weights(int o) const {
    return reinterpret_cast<int8_t*>(memory_.data()) + static_cast<size_t>(o) * stride_;
  }

  int inputs_ = 0;
  int stride_ = 0;       // inputs rounded up to a cache line
  WeightMemory memory_;  // [outputs, stride_], zeros at the end of each
  std::vector<Output> constants_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_INT8_ROWS_H_
