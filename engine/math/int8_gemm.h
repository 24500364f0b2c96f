// Matrix multiplication in 8-bit integers, with kernels of our own.
//
// Weights are quantized by output channel to -127 .. 127, and activations by row to 0 .. 255, which
// covers the range from the row's least value to its greatest:
//
//   w[o][i] ~ w_scale[o] * wq[o][i]        x[r][i] ~ x_low[r] + x_scale[r] * xq[r][i]
//   y[r][o] = activation(x_scale[r] * w_scale[o] * sum_i xq[r][i] * wq[o][i]
//                        + x_low[r] * w_sum[o] + b[o])
//   w_sum[o] = w_scale[o] * sum_i wq[o][i]
//
// So the output of a ReLU, which is never negative, uses all 8 bits.
//
// The sums are 32-bit integers and therefore exact: their order does not matter, and the row law
// holds on every instruction set.  They never reach memory: scale, bias and ReLU are applied while
// they are in registers.  Finish gives the same bytes for sums that were computed elsewhere
// (onednn_int8.h).

#ifndef DRAGOMAN_ENGINE_MATH_INT8_GEMM_H_
#define DRAGOMAN_ENGINE_MATH_INT8_GEMM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/base/packed_file.h"
#include "engine/math/int8_quantize.h"
#include "engine/math/matrix.h"
#include "engine/math/panel_gemm.h"

namespace dragoman {

// A weight matrix with its bias and activation, quantized and packed.  Immutable, so safe for
// concurrent use.
class Int8Gemm : public PanelGemm {
 public:
  // `weight` is [outputs, inputs]; `bias` has `outputs` elements or none.  INVALID_ARGUMENT if a
  // weight is infinite or NaN. `steps` has a step for each output (QuantizeWeights), or none.
  // REQUIRES: inputs <= kMaxInputs, so that no sum overflows.
  static absl::StatusOr<Int8Gemm> Create(MatrixView<const float> weight,
                                         absl::Span<const float> bias, Activation activation,
                                         absl::Span<const float> steps = {}) {
    return Create(weight, bias, activation, steps, /*pack=*/true);
  }
  // Creates one without a copy of the weights: only Finish can be called.
  static absl::StatusOr<Int8Gemm> CreateToFinish(MatrixView<const float> weight,
                                                 absl::Span<const float> bias,
                                                 Activation activation,
                                                 absl::Span<const float> steps = {}) {
    return Create(weight, bias, activation, steps, /*pack=*/false);
  }

  // The same as it was stored: reads the panels from the file.  Nothing if the file has no such
  // block of the right size.
  static std::optional<Int8Gemm> Restore(const std::shared_ptr<const PackedFile>& file,
                                         const std::string& name, int outputs, int inputs,
                                         Activation activation);
  // REQUIRES: not made by CreateToFinish.
  void Store(const std::string& name, PackedFileWriter* file) const;

  static constexpr int kMaxInputs = 65536;
  static constexpr int kPanelWidth = 64;  // outputs
  static constexpr int kQuad = 4;         // adjacent inputs

  // Computes the outputs of the panels [first_panel, end_panel).
  // REQUIRES: x has inputs() columns, y is [rows, outputs()].
  void Apply(const QuantizedRows& x, int first_panel, int end_panel, MatrixView<float> y) const;

  // A panel holds, for every kQuad inputs, the kQuad weights of each output, with zeros at the end
  // up to a multiple of 64 inputs.  REQUIRES: not made by CreateToFinish.
  int8_t* panel(int p) const {
    return reinterpret_cast<int8_t*>(panels_.data() + p * shape_.bytes);
  }

  // to[i] += factor * w[output][i], the quantized weight.  REQUIRES: `to` has inputs() elements;
  // not made by CreateToFinish.
  void AddWeights(int output, float factor, absl::Span<float> to) const;

  // Writes to `y` [rows, outputs()] the values that `sums` stand for.  Its first row belongs to row
  // `first_row` of x; its columns are those of whole panels, starting with `first_panel`.
  void Finish(const QuantizedRows& x, MatrixView<const int32_t> sums, int first_row,
              int first_panel, MatrixView<float> y) const;

 private:
  Int8Gemm(int inputs, int outputs, absl::Span<const float> bias, Activation activation);
  static absl::StatusOr<Int8Gemm> Create(MatrixView<const float> weight,
                                         absl::Span<const float> bias, Activation activation,
                                         absl::Span<const float> steps, bool pack);
  // Packs the quantized weights of one output.
  void PackOutput(int o, absl::Span<const int8_t> weights);

  std::vector<float> sums_;      // [outputs rounded up], scaled sums of each output's weights
  std::vector<float> scales_;    // [outputs rounded up]
  std::vector<int32_t> totals_;  // [outputs rounded up], the sums themselves
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_INT8_GEMM_H_
