// The simpler simple recurrent unit (Kim et al. 2019, "From Research to Production and Back",
// section 3.1), which Marian's student models use instead of self-attention.  With y the input of
// the sublayer,
//
//   f = sigma(y W_f + b_f)      c' = f c + (1 - f) y W      out = max(0, c')
//
// A model may normalize y W and y W_f, and may project `out`.  The older simple recurrent unit (Lei
// et al. 2018) gates its output: out = r tanh(c') + (1 - r) y with r = sigma(y W_r + b_r).

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "engine/math/gates.h"
#include "engine/math/kernels.h"
#include "engine/model/linear.h"
#include "engine/model/residual.h"
#include "engine/model/vector_history.h"

namespace dragoman {
namespace {

constexpr float kNormEpsilon = 1e-9f;

class Ssru final : public VectorHistory {
 public:
  void Apply(int l, absl::Span<const DecodeRow> rows, MatrixView<float> x,
             Workspace* ws) const override {
    const Layer& layer = layers_[l];
    const MatrixView<const float> y = layer.residual.Enter(x, ws);
    layer.products.Apply(y, &ws->projected, &ws->gemm);
    ws->context.Resize(x.rows(), width());
    ws->team().Split(x.rows(), Workspace::kLeastRows, [&](int, int first, int end) {
      for (int i = first; i < end; ++i) {
        Update(layer, l, rows[i], ws->projected.Row(i), y.Row(i), ws->context.Row(i));
      }
    });
    if (!layer.out.has_value()) return layer.residual.Leave(ws->context.view(), x, ws);
    layer.out->Apply(ws->context.view(), &ws->sublayer, &ws->gemm);
    layer.residual.Leave(ws->sublayer.view(), x, ws);
  }

 private:
  friend VectorHistory;
  static constexpr char kPart[] = ".rnn";

  // The gains of y W and y W_f, and the latter's bias, if they are normalized.
  struct Norms {
    std::vector<float> input, forget, bias, no_bias;
  };
  struct Layer {
    Linear products;  // [d_model, 2 d_model] W | W_f, or three with W_r
    std::optional<Norms> norms;
    bool resets = false;
    std::optional<Linear> out;
    Residual residual;
  };

  explicit Ssru(const ModelSpec& spec) : VectorHistory(spec) {}

  // Reads rnn.input.weight, rnn.forget.{weight,bias} and, if they exist,
  // rnn.reset.{weight,bias}, rnn.{input,forget}_norm.weight and rnn.out_proj.{weight,bias}.
  static absl::StatusOr<Layer> CreateLayer(const Checkpoint& checkpoint, const std::string& name,
                                           const ModelSpec& spec, Arithmetic arithmetic) {
    const int d = spec.d_model;
    std::vector<Weight> parts(2);
    std::optional<Norms> norms;
    ASSIGN_OR_RETURN(parts[0], ReadWeight(checkpoint, name + ".input", d, d, /*bias=*/false));
    ASSIGN_OR_RETURN(parts[1], ReadWeight(checkpoint, name + ".forget", d, d, /*bias=*/true));
    parts[0].b.assign(d, 0.0f);
    if (checkpoint.Has(name + ".input_norm.weight")) {
      norms.emplace();
      ASSIGN_OR_RETURN(norms->input, checkpoint.ReadVector(name + ".input_norm.weight", d));
      ASSIGN_OR_RETURN(norms->forget, checkpoint.ReadVector(name + ".forget_norm.weight", d));
      norms->no_bias.assign(d, 0.0f);
      norms->bias = std::exchange(parts[1].b, norms->no_bias);
    }
    const bool resets = checkpoint.Has(name + ".reset.weight");
    if (resets) {
      ASSIGN_OR_RETURN(parts.emplace_back(), ReadWeight(checkpoint, name + ".reset", d, d, true));
    }
    ASSIGN_OR_RETURN(Linear products, Linear::Create(Fuse(parts), Activation::kNone, arithmetic));
    std::optional<Linear> out;
    if (checkpoint.Has(name + ".out_proj.weight")) {
      ASSIGN_OR_RETURN(const Weight weight, ReadWeight(checkpoint, name + ".out_proj", d, d, true));
      ASSIGN_OR_RETURN(out, Linear::Create(weight, Activation::kNone, arithmetic));
    }
    ASSIGN_OR_RETURN(Residual residual, Residual::Create(checkpoint, name, spec, arithmetic));
    return Layer{std::move(products), std::move(norms), resets, std::move(out),
                 std::move(residual)};
  }

  // Computes one row: the new vector, and the output of the sublayer.
  void Update(const Layer& layer, int l, const DecodeRow& row, absl::Span<float> products,
              absl::Span<const float> y, absl::Span<float> out) const {
    const absl::Span<float> input = products.subspan(0, width());
    const absl::Span<float> forget = products.subspan(width(), width());
    if (layer.norms.has_value()) {
      const Norms& norms = *layer.norms;
      const MatrixView<float> input_row(input.data(), 1, width());
      const MatrixView<float> forget_row(forget.data(), 1, width());
      LayerNorm(input_row, norms.input, norms.no_bias, kNormEpsilon, input_row);
      LayerNorm(forget_row, norms.forget, norms.bias, kNormEpsilon, forget_row);
    }
    const absl::Span<float> next = Next(row, l);
    ForgetAndTake(forget, input, Last(row, l), next, out);
    if (!layer.resets) return;
    std::copy(next.begin(), next.end(), out.begin());
    Tanh(out);
    Blend(products.subspan(2 * width(), width()), y, out);
  }

  std::vector<Layer> layers_;
};

}  // namespace

extern const HistoryKind ssru_history;
const HistoryKind ssru_history = {"ssru", VectorHistory::Create<Ssru>};

}  // namespace dragoman
