#include "engine/model/gated_cell.h"

#include <algorithm>
#include <utility>

#include "engine/base/status.h"
#include "engine/math/gates.h"
#include "engine/math/kernels.h"

namespace dragoman {
namespace {

constexpr float kEpsilon = 1e-9f;
constexpr float kNematusEpsilon = 1e-5f;

using ProductNorm = NormedProduct::Norm;

std::vector<float> Zeros(int n) { return std::vector<float>(n, 0.0f); }

// One product of a cell: gates | candidate, which is W | Wx or U | Ux.
struct CellProduct {
  const Checkpoint& checkpoint;
  std::string gates, candidate;  // names
  int inputs = 0;
  int width = 0;

  absl::StatusOr<Weight> Read() const {
    std::vector<Weight> parts(2);
    ASSIGN_OR_RETURN(parts[0], LazyWeight(checkpoint, gates, 2 * width, inputs));
    ASSIGN_OR_RETURN(parts[1], LazyWeight(checkpoint, candidate, width, inputs));
    Weight fused = Fuse(parts);
    fused.b = Zeros(3 * width);
    fused.steps.clear();
    return fused;
  }

  // Norms of the two parts, under Nematus' names, or one norm for both, by a single gain.
  absl::StatusOr<std::vector<ProductNorm>> ReadNorms(const std::string& gain) const {
    std::vector<ProductNorm> norms;
    if (checkpoint.Has(gates + "_lns")) {
      for (const auto& [name, first, size] :
           {std::tuple(gates, 0, 2 * width), {candidate, 2 * width, width}}) {
        ProductNorm& norm = norms.emplace_back();
        norm.first = first;
        norm.epsilon = kNematusEpsilon;
        ASSIGN_OR_RETURN(norm.gain, checkpoint.ReadVector(name + "_lns", size));
        ASSIGN_OR_RETURN(norm.bias, checkpoint.ReadVector(name + "_lnb", size));
      }
    } else if (checkpoint.Has(gain)) {
      ProductNorm& norm = norms.emplace_back();
      norm.epsilon = kEpsilon;
      ASSIGN_OR_RETURN(norm.gain, checkpoint.ReadVector(gain, 3 * width));
      norm.bias = Zeros(3 * width);
    }
    return norms;
  }
};

}  // namespace

absl::StatusOr<NormedProduct> NormedProduct::Create(const Weight& weight, std::vector<Norm> norms,
                                                    Arithmetic arithmetic) {
  ASSIGN_OR_RETURN(Linear linear, Linear::Create(weight, Activation::kNone, arithmetic));
  return NormedProduct(std::move(linear), std::move(norms));
}

void NormedProduct::Apply(MatrixView<const float> x, Matrix<float>* y, Workspace* ws) const {
  linear_.Apply(x, y, &ws->gemm);
  for (const Norm& norm : norms_) {
    const MatrixView<float> part = y->view().Cols(norm.first, static_cast<int>(norm.gain.size()));
    ws->team().Split(x.rows(), Workspace::kLeastRows, [&](int, int first, int end) {
      const MatrixView<float> rows = part.Rows(first, end - first);
      LayerNorm(rows, norm.gain, norm.bias, norm.epsilon, rows);
    });
  }
}

absl::StatusOr<NormedProduct> ReadDense(const Checkpoint& checkpoint, const DenseNames& names,
                                        int outputs, int inputs, Arithmetic arithmetic) {
  ASSIGN_OR_RETURN(Weight weight, LazyWeight(checkpoint, names.weight, outputs, inputs));
  weight.steps.clear();
  weight.b = Zeros(outputs);
  if (!names.bias.empty()) {
    ASSIGN_OR_RETURN(weight.b, checkpoint.ReadVector(names.bias, outputs));
  }
  std::vector<ProductNorm> norms;
  if (checkpoint.Has(names.own_gain)) {
    ProductNorm& norm = norms.emplace_back();
    norm.epsilon = kNematusEpsilon;
    ASSIGN_OR_RETURN(norm.gain, checkpoint.ReadVector(names.own_gain, outputs));
    ASSIGN_OR_RETURN(norm.bias, checkpoint.ReadVector(names.own_bias, outputs));
  } else if (checkpoint.Has(names.gain)) {
    ProductNorm& norm = norms.emplace_back();
    norm.epsilon = kEpsilon;
    ASSIGN_OR_RETURN(norm.gain, checkpoint.ReadVector(names.gain, outputs));
    norm.bias = std::exchange(weight.b, Zeros(outputs));
  }
  return NormedProduct::Create(weight, std::move(norms), arithmetic);
}

absl::StatusOr<GatedCell> GatedCell::Create(const Checkpoint& checkpoint, const std::string& prefix,
                                            const Options& options, Arithmetic arithmetic) {
  const int width = options.width;
  std::vector<float> bias = Zeros(3 * width);
  ASSIGN_OR_RETURN(const std::vector<float> b, checkpoint.ReadVector(prefix + "_b", 2 * width));
  ASSIGN_OR_RETURN(const std::vector<float> bx, checkpoint.ReadVector(prefix + "_bx", width));
  std::copy(b.begin(), b.end(), bias.begin());
  std::copy(bx.begin(), bx.end(), bias.begin() + 2 * width);

  const CellProduct of_state{checkpoint, prefix + "_U", prefix + "_Ux", width, width};
  ASSIGN_OR_RETURN(Weight state, of_state.Read());
  ASSIGN_OR_RETURN(std::vector<ProductNorm> state_norms, of_state.ReadNorms(prefix + "_gamma2"));
  const bool normed_alone = state_norms.size() == 2;
  const bool biased_state =
      normed_alone && !options.encoder && (options.bias_of_state || options.inputs == 0);
  if (biased_state) state.b = std::exchange(bias, Zeros(3 * width));
  std::optional<NormedProduct> input;
  if (options.inputs > 0) {
    const CellProduct of_input{checkpoint, prefix + "_W", prefix + "_Wx", options.inputs, width};
    ASSIGN_OR_RETURN(Weight weight, of_input.Read());
    ASSIGN_OR_RETURN(std::vector<ProductNorm> norms, of_input.ReadNorms(prefix + "_gamma1"));
    if (normed_alone && !biased_state) weight.b = std::exchange(bias, Zeros(3 * width));
    ASSIGN_OR_RETURN(input, NormedProduct::Create(weight, std::move(norms), arithmetic));
  }
  ASSIGN_OR_RETURN(NormedProduct product,
                   NormedProduct::Create(state, std::move(state_norms), arithmetic));
  GatedCell cell(std::move(input), std::move(product));
  cell.bias_ = std::move(bias);
  cell.bias_in_reset_ = options.bias_in_reset;
  return cell;
}

void GatedCell::Update(absl::FunctionRef<absl::Span<const float>(int)> projected,
                       MatrixView<float> states, Workspace* ws) const {
  state_.Apply(states, &ws->inner, ws);
  ws->team().Split(states.rows(), Workspace::kLeastRows, [&](int, int first, int end) {
    for (int i = first; i < end; ++i) {
      dragoman::Update({.x = projected(i),
                        .s = ws->inner.Row(i),
                        .b = bias_,
                        .state = states.Row(i),
                        .bias_in_reset = bias_in_reset_},
                       states.Row(i));
    }
  });
}

}  // namespace dragoman
