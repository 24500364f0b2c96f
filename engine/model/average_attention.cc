// Average attention (Zhang et al. 2018, "Accelerating Neural Transformer via an Average Attention
// Network"): instead of weighing the earlier tokens, it takes their mean, followed by a
// feed-forward layer and a gate.  With x_t the input of the sublayer at token t,
//
//   a_t = (a_(t-1) t + x_t) / (t + 1)      y = FFN(norm(a_t))
//   out = sigma(x W_i + b_i) x + sigma(y W_f + b_f) y

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "engine/math/gates.h"
#include "engine/model/linear.h"
#include "engine/model/residual.h"
#include "engine/model/vector_history.h"

namespace dragoman {
namespace {

constexpr int kMaxInner = 1 << 16;

class AverageAttention final : public VectorHistory {
 public:
  void Apply(int l, absl::Span<const DecodeRow> rows, MatrixView<float> x,
             Workspace* ws) const override {
    const Layer& layer = layers_[l];
    ws->context.Resize(x.rows(), width());
    for (int i = 0; i < x.rows(); ++i) {
      const absl::Span<const float> last = Last(rows[i], l);
      const absl::Span<float> next = Next(rows[i], l);
      const float before = static_cast<float>(rows[i].position);
      for (int c = 0; c < width(); ++c) {
        next[c] = (last[c] * before + x.Row(i)[c]) / (before + 1.0f);
      }
      std::copy(next.begin(), next.end(), ws->context.Row(i).begin());
    }
    MatrixView<const float> y = layer.residual.Enter(ws->context.view(), ws);
    for (const Linear& linear : layer.feed_forward) {
      std::swap(ws->inner, ws->gated);
      linear.Apply(y, &ws->inner, &ws->gemm);
      y = ws->inner.view();
    }
    ws->sublayer.Resize(x.rows(), width());
    for (int i = 0; i < x.rows(); ++i) {
      std::copy(y.Row(i).begin(), y.Row(i).end(), ws->sublayer.Row(i).begin());
    }
    if (layer.input.has_value() && layer.forget.has_value()) {
      layer.input->Apply(x, &ws->projected, &ws->gemm);
      layer.forget->Apply(ws->sublayer.view(), &ws->gate, &ws->gemm);
      for (int i = 0; i < x.rows(); ++i) {
        GatedSum(ws->projected.Row(i), x.Row(i), ws->gate.Row(i), ws->sublayer.Row(i));
      }
    }
    layer.residual.Leave(ws->sublayer.view(), x, ws);
  }

 private:
  friend VectorHistory;
  static constexpr char kPart[] = ".aan";

  struct Layer {
    std::vector<Linear> feed_forward;
    std::optional<Linear> input, forget;  // [d_model, d_model]
    Residual residual;
  };

  explicit AverageAttention(const ModelSpec& spec) : VectorHistory(spec) {}

  // Reads aan.fc1, aan.fc2 and so on, as many as there are, each with an activation;
  // and, if they exist, aan.out_proj and the gates aan.input and aan.forget; .weight and .bias of
  // each.
  static absl::StatusOr<Layer> CreateLayer(const Checkpoint& checkpoint, const std::string& name,
                                           const ModelSpec& spec, Arithmetic arithmetic) {
    const int d = spec.d_model;
    std::vector<Linear> feed_forward;
    int width = d;
    for (int i = 1; checkpoint.Has(absl::StrCat(name, ".fc", i, ".weight")); ++i) {
      const std::string own = absl::StrCat(name, ".fc", i);
      const int64_t rows = checkpoint.Find(own + ".weight")->shape[0];
      const int outputs = static_cast<int>(std::min<int64_t>(rows, kMaxInner));
      ASSIGN_OR_RETURN(const Weight weight, ReadWeight(checkpoint, own, outputs, width, true));
      ASSIGN_OR_RETURN(Linear linear, Linear::Create(weight, spec.history_activation, arithmetic));
      feed_forward.push_back(std::move(linear));
      width = outputs;
    }
    if (width != d || checkpoint.Has(name + ".out_proj.weight")) {
      ASSIGN_OR_RETURN(const Weight weight,
                       ReadWeight(checkpoint, name + ".out_proj", d, width, true));
      ASSIGN_OR_RETURN(Linear linear, Linear::Create(weight, Activation::kNone, arithmetic));
      feed_forward.push_back(std::move(linear));
    }
    const auto gate = [&](const char* part) -> absl::StatusOr<std::optional<Linear>> {
      if (!checkpoint.Has(name + part + ".weight")) return std::nullopt;
      ASSIGN_OR_RETURN(const Weight weight, ReadWeight(checkpoint, name + part, d, d, true));
      ASSIGN_OR_RETURN(Linear linear, Linear::Create(weight, Activation::kNone, arithmetic));
      return std::optional(std::move(linear));
    };
    ASSIGN_OR_RETURN(std::optional<Linear> input, gate(".input"));
    ASSIGN_OR_RETURN(std::optional<Linear> forget, gate(".forget"));
    ASSIGN_OR_RETURN(Residual residual, Residual::Create(checkpoint, name, spec, arithmetic));
    return Layer{std::move(feed_forward), std::move(input), std::move(forget), std::move(residual)};
  }

  std::vector<Layer> layers_;
};

}  // namespace

extern const HistoryKind average_attention_history;
const HistoryKind average_attention_history = {"average_attention",
                                               VectorHistory::Create<AverageAttention>};

}  // namespace dragoman
