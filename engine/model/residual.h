// The steps around a sublayer: norms, and the residual connection ("Attention Is All You Need",
// section 3.1).  Which steps there are, and in which order, is data (Processing, config.h).

#ifndef DRAGOMAN_ENGINE_MODEL_RESIDUAL_H_
#define DRAGOMAN_ENGINE_MODEL_RESIDUAL_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/formats/checkpoint.h"
#include "engine/model/linear.h"
#include "engine/model/workspace.h"
#include "engine/spec/config.h"

namespace dragoman {

// The norm of a model, with its parameters.  Immutable.
class Normalization {
 public:
  // Reads PREFIX.weight and, unless it is a root mean square norm, PREFIX.bias [d_model].
  static absl::StatusOr<Normalization> Create(const Checkpoint& checkpoint,
                                              const std::string& prefix, const ModelSpec& spec);

  // All are [rows, d_model].
  void Apply(MatrixView<const float> x, MatrixView<float> out,
             Workspace* ws) const;  // out = norm(x)
  void AddAndApply(MatrixView<const float> y, MatrixView<float> x, Workspace* ws) const;

 private:
  Norm norm_ = Norm::kLayer;
  float epsilon_ = 0.0f;
  std::vector<float> gain_, bias_;
};

// The steps around a sublayer f.  Immutable.
//
//   y = f(residual.Enter(x, ws));
//   residual.Leave(y, x, ws);
class Residual {
 public:
  // Reads what the steps need: SUBLAYER_layer_norm, SUBLAYER_highway, and for the norm before the
  // sublayer SUBLAYER_layer_norm_before, if there are norms on both sides.
  static absl::StatusOr<Residual> Create(const Checkpoint& checkpoint, const std::string& sublayer,
                                         const ModelSpec& spec, Arithmetic arithmetic);

  // The input of the sublayer: x, or its norm, which stays in the workspace until the next Enter.
  MatrixView<const float> Enter(MatrixView<const float> x, Workspace* ws) const;
  // Replaces x by the result of the steps after the sublayer, whose output is y.
  void Leave(MatrixView<const float> y, MatrixView<float> x, Workspace* ws) const;

 private:
  void LeaveByGates(MatrixView<const float> y, MatrixView<float> x, Workspace* ws) const;

  // The steps after the sublayer: "a", "an", or any.
  enum class After { kAdd, kAddAndNormalize, kSteps };
  After after_ = After::kSteps;
  std::string steps_;
  std::optional<Normalization> enter_;  // before the sublayer
  std::optional<Normalization> leave_;
  std::optional<Linear> gate_;  // [d_model, d_model]
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_RESIDUAL_H_
