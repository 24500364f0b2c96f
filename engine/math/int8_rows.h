// The product of Int8Gemm for a few of its outputs, which each call names: for sentences that are
// translated with a shortlist.
//
// Int8Gemm's panels interleave 64 outputs, so a single output cannot be read from them.  Here the
// weights of an output are contiguous, and nothing has to be gathered or packed before a product:
// 1,000 outputs with 512 inputs read 512 kB. It costs the memory of the weights a second time.

#ifndef DRAGOMAN_ENGINE_MATH_INT8_ROWS_H_
#define DRAGOMAN_ENGINE_MATH_INT8_ROWS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/base/packed_file.h"
#include "engine/base/weight_memory.h"
#include "engine/math/int8_gemm.h"
#include "engine/math/matrix.h"

namespace dragoman {

// Immutable once it is set, so safe for concurrent use.
class Int8Rows {
 public:
  // What an output needs besides its weights.
  struct Output {
    float scale = 0.0f;
    float bias = 0.0f;
    float sum = 0.0f;   // of the weights, scaled
    int32_t total = 0;  // of the weights themselves
  };

  // Zeros until Set.  REQUIRES: inputs <= Int8Gemm::kMaxInputs.
  Int8Rows(int outputs, int inputs);

  // Sets the outputs first, first + 1, ...: `weight` is [count, inputs()], `bias` has count
  // elements.  INVALID_ARGUMENT if a weight is infinite or NaN. Only before the object is shared.
  // `step` applies to all of them (QuantizeWeights).
  absl::Status Set(int first, MatrixView<const float> weight, absl::Span<const float> bias,
                   float step = 0.0f);

  // The same as it was stored: reads the weights from the file.  Nothing if the file has no such
  // block of the right size.
  static std::optional<Int8Rows> Restore(const std::shared_ptr<const PackedFile>& file,
                                         const std::string& name, int outputs, int inputs);
  void Store(const std::string& name, PackedFileWriter* file) const;

  int inputs() const { return inputs_; }
  int outputs() const { return static_cast<int>(constants_.size()); }

  // to[i] += factor * w[output][i], the quantized weight.  REQUIRES: `to` has inputs() elements.
  void AddWeights(int output, float factor, absl::Span<float> to) const;

  // y[r][j] = output outputs[j] of row r of x.  Keeps the row law, and a value does not depend on
  // which other outputs are named.  REQUIRES: x has inputs() columns and as many rows as y; y has
  // one column per named output; fewer than outputs() are named.
  void Apply(const QuantizedRows& x, absl::Span<const int32_t> outputs, MatrixView<float> y) const;

 private:
  Int8Rows() = default;
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
