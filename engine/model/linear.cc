#include "engine/model/linear.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"

namespace dragoman {

absl::StatusOr<Weight> LazyWeight(const Checkpoint& checkpoint, const std::string& tensor,
                                  int outputs, int inputs) {
  RETURN_IF_ERROR(checkpoint.CheckMatrix(tensor, outputs, inputs));
  Weight weight;
  weight.outputs = outputs;
  weight.inputs = inputs;
  weight.w = [&checkpoint, tensor, outputs, inputs] {
    return checkpoint.ReadMatrix(tensor, outputs, inputs);
  };
  if (const float step = checkpoint.StepOf(tensor); step > 0.0f) {
    weight.steps.assign(outputs, step);
  }
  weight.recipe = tensor;
  weight.packed = checkpoint.packed();
  return weight;
}

absl::StatusOr<Weight> ReadWeight(const Checkpoint& checkpoint, const std::string& prefix,
                                  int outputs, int inputs, bool bias) {
  ASSIGN_OR_RETURN(Weight weight, LazyWeight(checkpoint, prefix + ".weight", outputs, inputs));
  if (bias) {
    ASSIGN_OR_RETURN(weight.b, checkpoint.ReadVector(prefix + ".bias", outputs));
  }
  return weight;
}

Weight Fuse(const std::vector<Weight>& parts) {
  Weight fused;
  fused.inputs = parts.front().inputs;
  fused.packed = parts.front().packed;
  for (const Weight& part : parts) {
    fused.outputs += part.outputs;
    fused.recipe += (fused.recipe.empty() ? "" : "+") + part.recipe;
    fused.b.insert(fused.b.end(), part.b.begin(), part.b.end());
    fused.steps.insert(fused.steps.end(), part.steps.begin(), part.steps.end());
  }
  if (static_cast<int>(fused.steps.size()) != fused.outputs) fused.steps.clear();
  fused.w = [parts, outputs = fused.outputs,
             inputs = fused.inputs]() -> absl::StatusOr<Matrix<float>> {
    Matrix<float> w(outputs, inputs);
    float* to = w.view().data();
    for (const Weight& part : parts) {
      ASSIGN_OR_RETURN(const Matrix<float> from, part.w());
      to = std::copy_n(from.view().data(), static_cast<size_t>(from.rows()) * from.cols(), to);
    }
    return w;
  };
  return fused;
}

namespace {

// Changes w by `change`, which the recipe calls by that name.
template <typename Change>
void Then(const std::string& name, Weight* weight, Change change) {
  absl::StrAppend(&weight->recipe, name);
  weight->w = [before = std::move(weight->w),
               change = std::move(change)]() -> absl::StatusOr<Matrix<float>> {
    ASSIGN_OR_RETURN(Matrix<float> w, before());
    change(&w);
    return w;
  };
}

}  // namespace

void Scale(float factor, Weight* weight) {
  Then(absl::StrCat("*", std::bit_cast<uint32_t>(factor)), weight, [factor](Matrix<float>* w) {
    for (int r = 0; r < w->rows(); ++r) {
      for (float& value : w->Row(r)) value *= factor;
    }
  });
  for (float& value : weight->b) value *= factor;
  for (float& step : weight->steps) step *= factor;
}

void InterleaveOutputs(int heads, Weight* weight) {
  const int head_dim = weight->outputs / heads;
  Then(absl::StrCat("|", heads), weight, [heads, head_dim](Matrix<float>* w) {
    Matrix<float> interleaved(w->rows(), w->cols());
    for (int h = 0; h < heads; ++h) {
      for (int i = 0; i < head_dim; ++i) {
        const absl::Span<const float> from = w->Row(head_dim * h + i);
        std::copy(from.begin(), from.end(), interleaved.Row(heads * i + h).begin());
      }
    }
    *w = std::move(interleaved);
  });
  // The steps are those of a single tensor, so they are all equal.
  const std::vector<float> b = weight->b;
  for (size_t o = 0; o < b.size(); ++o) weight->b[heads * (o % head_dim) + o / head_dim] = b[o];
}

void InterleaveInputs(int heads, Weight* weight) {
  const int head_dim = weight->inputs / heads;
  Then(absl::StrCat("/", heads), weight, [heads, head_dim](Matrix<float>* w) {
    std::vector<float> row(w->cols());
    for (int o = 0; o < w->rows(); ++o) {
      const absl::Span<float> values = w->Row(o);
      for (int h = 0; h < heads; ++h) {
        for (int i = 0; i < head_dim; ++i) row[heads * i + h] = values[head_dim * h + i];
      }
      std::copy(row.begin(), row.end(), values.begin());
    }
  });
}

absl::StatusOr<Linear> Linear::Create(const Weight& weight, Activation activation,
                                      Arithmetic arithmetic) {
  const PackedWeights* const packed = weight.packed;
  const std::string name = absl::StrCat(
      weight.recipe, " ", absl::Hex(XXH3_64bits(weight.b.data(), weight.b.size() * sizeof(float))));
  if (packed != nullptr && packed->from != nullptr) {
    std::optional<PackedGemm> gemm = PackedGemm::Restore(packed->from, name, weight.outputs,
                                                         weight.inputs, activation, arithmetic);
    if (gemm.has_value()) return Linear(*std::move(gemm));
  }
  ASSIGN_OR_RETURN(const Matrix<float> w, weight.w());
  ASSIGN_OR_RETURN(Linear linear, Create(w.view(), weight.b, activation, arithmetic, weight.steps));
  if (packed != nullptr && packed->to != nullptr) linear.gemm_.Store(name, packed->to);
  return linear;
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
