#include "engine/model/residual.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "engine/base/status.h"
#include "engine/math/gates.h"
#include "engine/math/kernels.h"

namespace dragoman {

absl::StatusOr<Normalization> Normalization::Create(const Checkpoint& checkpoint,
                                                    const std::string& prefix,
                                                    const ModelSpec& spec) {
  Normalization norm;
  norm.norm_ = spec.norm;
  norm.epsilon_ = spec.norm_epsilon;
  ASSIGN_OR_RETURN(norm.gain_, checkpoint.ReadVector(prefix + ".weight", spec.d_model));
  if (spec.norm == Norm::kLayer) {
    ASSIGN_OR_RETURN(norm.bias_, checkpoint.ReadVector(prefix + ".bias", spec.d_model));
  }
  return norm;
}

void Normalization::Apply(MatrixView<const float> x, MatrixView<float> out, Workspace* ws) const {
  ws->team().Split(x.rows(), Workspace::kLeastRows, [&](int, int first, int end) {
    const MatrixView<const float> from = x.Rows(first, end - first);
    const MatrixView<float> to = out.Rows(first, end - first);
    if (norm_ == Norm::kLayer) {
      LayerNorm(from, gain_, bias_, epsilon_, to);
    } else {
      RootMeanSquareNorm(from, gain_, epsilon_, to);
    }
  });
}

void Normalization::AddAndApply(MatrixView<const float> y, MatrixView<float> x,
                                Workspace* ws) const {
  ws->team().Split(x.rows(), Workspace::kLeastRows, [&](int, int first, int end) {
    const MatrixView<float> rows = x.Rows(first, end - first);
    const MatrixView<const float> addend = y.Rows(first, end - first);
    if (norm_ == Norm::kLayer) return AddAndNorm(rows, addend, gain_, bias_, epsilon_, rows);
    Add(addend, rows);
    RootMeanSquareNorm(rows, gain_, epsilon_, rows);
  });
}

absl::StatusOr<Residual> Residual::Create(const Checkpoint& checkpoint, const std::string& sublayer,
                                          const ModelSpec& spec, Arithmetic arithmetic) {
  const Processing around = spec.around();
  Residual residual;
  residual.steps_ = around.after;
  if (residual.steps_ == "a") residual.after_ = After::kAdd;
  if (residual.steps_ == "an") residual.after_ = After::kAddAndNormalize;
  const std::string norm = sublayer + "_layer_norm";
  if (!around.before.empty()) {
    const std::string before = around.norms_after() ? norm + "_before" : norm;
    ASSIGN_OR_RETURN(residual.enter_, Normalization::Create(checkpoint, before, spec));
  }
  if (around.norms_after()) {
    ASSIGN_OR_RETURN(residual.leave_, Normalization::Create(checkpoint, norm, spec));
  }
  if (absl::StrContains(around.after, 'h')) {
    ASSIGN_OR_RETURN(const Weight gate, ReadWeight(checkpoint, sublayer + "_highway", spec.d_model,
                                                   spec.d_model, /*bias=*/true));
    ASSIGN_OR_RETURN(residual.gate_, Linear::Create(gate, Activation::kNone, arithmetic));
  }
  return residual;
}

MatrixView<const float> Residual::Enter(MatrixView<const float> x, Workspace* ws) const {
  if (!enter_.has_value()) return x;
  ws->normed.Resize(x.rows(), x.cols());
  enter_->Apply(x, ws->normed.view(), ws);
  return ws->normed.view();
}

void Residual::Leave(MatrixView<const float> y, MatrixView<float> x, Workspace* ws) const {
  if (after_ == After::kAddAndNormalize) return leave_->AddAndApply(y, x, ws);
  if (after_ == After::kSteps) return LeaveByGates(y, x, ws);
  ws->team().Split(x.rows(), Workspace::kLeastRows, [&](int, int first, int end) {
    Add(y.Rows(first, end - first), x.Rows(first, end - first));
  });
}

// Any steps, one after the other.
void Residual::LeaveByGates(MatrixView<const float> y, MatrixView<float> x, Workspace* ws) const {
  ws->left.Resize(x.rows(), x.cols());
  const MatrixView<float> left = ws->left.view();
  for (int r = 0; r < x.rows(); ++r) {
    std::copy_n(y.Row(r).data(), y.cols(), left.Row(r).data());
  }
  for (const char step : steps_) {
    if (step == 'a') Add(x, left);
    if (step == 'n') leave_->Apply(left, left, ws);
    if (step == 'h') {
      gate_->Apply(x, &ws->gate, &ws->gemm);
      for (int r = 0; r < x.rows(); ++r) Blend(ws->gate.Row(r), x.Row(r), left.Row(r));
    }
  }
  for (int r = 0; r < x.rows(); ++r) {
    std::copy_n(left.Row(r).data(), left.cols(), x.Row(r).data());
  }
}

}  // namespace dragoman
