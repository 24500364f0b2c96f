#include "engine/model/linear.h"

#include <algorithm>
#include <utility>

namespace dragoman {

absl::StatusOr<Weight> ReadWeight(const Checkpoint& checkpoint, const std::string& prefix,
                                  int outputs, int inputs, bool bias) {
  Weight weight;
  ASSIGN_OR_RETURN(weight.w, checkpoint.ReadMatrix(prefix + ".weight", outputs, inputs));
  if (const float step = checkpoint.StepOf(prefix + ".weight"); step > 0.0f) {
    weight.steps.assign(outputs, step);
  }
  if (bias) {
    ASSIGN_OR_RETURN(weight.b, checkpoint.ReadVector(prefix + ".bias", outputs));
  }
  return weight;
}

Weight Fuse(const std::vector<Weight>& parts) {
  int outputs = 0;
  for (const Weight& part : parts) outputs += part.w.rows();
  Weight fused;
  fused.w.Resize(outputs, parts.front().w.cols());
  float* to = fused.w.view().data();
  for (const Weight& part : parts) {
    const MatrixView<const float> w = part.w.view();
    to = std::copy_n(w.data(), static_cast<size_t>(w.rows()) * w.cols(), to);
    fused.b.insert(fused.b.end(), part.b.begin(), part.b.end());
    fused.steps.insert(fused.steps.end(), part.steps.begin(), part.steps.end());
  }
  if (static_cast<int>(fused.steps.size()) != outputs) fused.steps.clear();
  return fused;
}

void Scale(float factor, Weight* weight) {
  for (int r = 0; r < weight->w.rows(); ++r) {
    for (float& value : weight->w.Row(r)) value *= factor;
  }
  for (float& value : weight->b) value *= factor;
  for (float& step : weight->steps) step *= factor;
}

void InterleaveOutputs(int heads, Weight* weight) {
  const int head_dim = weight->w.rows() / heads;
  Weight interleaved;
  interleaved.w.Resize(weight->w.rows(), weight->w.cols());
  interleaved.b.resize(weight->b.size());
  interleaved.steps = weight->steps;  // of a single tensor, so they are all equal
  for (int h = 0; h < heads; ++h) {
    for (int i = 0; i < head_dim; ++i) {
      const absl::Span<const float> from = weight->w.Row(head_dim * h + i);
      std::copy(from.begin(), from.end(), interleaved.w.Row(heads * i + h).begin());
      if (!weight->b.empty()) interleaved.b[heads * i + h] = weight->b[head_dim * h + i];
    }
  }
  *weight = std::move(interleaved);
}

void InterleaveInputs(int heads, Weight* weight) {
  const int head_dim = weight->w.cols() / heads;
  std::vector<float> row(weight->w.cols());
  for (int o = 0; o < weight->w.rows(); ++o) {
    const absl::Span<float> w = weight->w.Row(o);
    for (int h = 0; h < heads; ++h) {
      for (int i = 0; i < head_dim; ++i) row[heads * i + h] = w[head_dim * h + i];
    }
    std::copy(row.begin(), row.end(), w.begin());
  }
}

absl::StatusOr<Linear> Linear::Create(const Weight& weight, Activation activation,
                                      Arithmetic arithmetic) {
  return Create(weight.w.view(), weight.b, activation, arithmetic, weight.steps);
}

absl::StatusOr<Linear> Linear::Create(MatrixView<const float> w, absl::Span<const float> b,
                                      Activation activation, Arithmetic arithmetic,
                                      absl::Span<const float> steps) {
  ASSIGN_OR_RETURN(PackedGemm gemm, PackedGemm::Create(w, b, activation, arithmetic, steps));
  return Linear(std::move(gemm));
}

void Linear::Apply(MatrixView<const float> x, Matrix<float>* y, GemmScratch* scratch) const {
  y->Resize(x.rows(), outputs());
  gemm_.Apply(x, y->view(), scratch);
}

void Linear::Apply(MatrixView<const float> x, MatrixView<float> y, GemmScratch* scratch) const {
  gemm_.Apply(x, y, scratch);
}

}  // namespace dragoman
