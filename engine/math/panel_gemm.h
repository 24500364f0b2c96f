// What the products of our own kernels have in common: a weight matrix that is packed in panels of
// outputs (panels.h), with its bias and activation.

#ifndef DRAGOMAN_ENGINE_MATH_PANEL_GEMM_H_
#define DRAGOMAN_ENGINE_MATH_PANEL_GEMM_H_

#include <algorithm>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "engine/base/status.h"
#include "engine/base/weight_memory.h"
#include "engine/math/activation.h"
#include "engine/math/kernels.h"
#include "engine/math/matrix.h"
#include "engine/math/panels.h"

namespace dragoman {

class PanelGemm {
 public:
  int inputs() const { return inputs_; }
  int outputs() const { return outputs_; }

  // Several threads may each compute some panels of a product.
  int panels() const { return (outputs_ + shape_.width - 1) / shape_.width; }

 protected:
  PanelGemm(int inputs, int outputs, absl::Span<const float> bias, Activation activation,
            const PanelShape& shape)
      : inputs_(inputs),
        outputs_(outputs),
        activation_(activation),
        shape_(shape),
        bias_(static_cast<size_t>(panels()) * shape.width) {
    DRAGOMAN_CHECK(bias.empty() || static_cast<int>(bias.size()) == outputs);
    std::copy(bias.begin(), bias.end(), bias_.begin());
  }

  // Calls multiply(tile), which applies a ReLU, for all rows of `y` and the panels [first_panel,
  // end_panel); then applies any other activation.
  void Compute(int first_panel, int end_panel, MatrixView<float> y,
               absl::FunctionRef<void(const PanelTile&)> multiply) const {
    ForEachTile(shape_, first_panel, end_panel, y, multiply);
    if (activation_ == Activation::kRelu) return;
    const int first = first_panel * shape_.width;
    Activate(activation_, y.Cols(first, std::min(end_panel * shape_.width, y.cols()) - first));
  }

  int inputs_;
  int outputs_;
  Activation activation_;
  PanelShape shape_;
  WeightMemory panels_;
  std::vector<float> bias_;  // [outputs rounded up]
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_PANEL_GEMM_H_
