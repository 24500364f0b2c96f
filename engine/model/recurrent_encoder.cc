#include "engine/model/recurrent_encoder.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "engine/math/kernels.h"

namespace dragoman {
namespace {

// Reads the cells of one layer: PREFIX, PREFIX_cell2, ... for a stack's first layer, and
// PREFIX_lN_cell1, ... for those above.
absl::StatusOr<std::vector<GatedCell>> ReadCells(const Checkpoint& checkpoint,
                                                 const std::string& prefix, int inputs,
                                                 const RecurrentSpec& details, bool first_layer,
                                                 Arithmetic arithmetic) {
  std::vector<GatedCell> cells;
  for (int i = 1; i <= details.encoder_cells; ++i) {
    const std::string name = first_layer && i == 1 ? prefix : absl::StrCat(prefix, "_cell", i);
    ASSIGN_OR_RETURN(GatedCell cell, GatedCell::Create(checkpoint, name,
                                                       {.inputs = i == 1 ? inputs : 0,
                                                        .width = details.state_width,
                                                        .encoder = true},
                                                       arithmetic));
    cells.push_back(std::move(cell));
  }
  return cells;
}

}  // namespace

absl::StatusOr<RecurrentEncoder> RecurrentEncoder::Create(const Checkpoint& checkpoint,
                                                          const ModelSpec& spec,
                                                          const RecurrentSpec& details,
                                                          Arithmetic arithmetic) {
  const bool alternating = details.encoder == RecurrentSpec::kAlternating;
  const bool one_layer = details.encoder == RecurrentSpec::kBiUnidirectional;
  const int layers = one_layer ? 1 : spec.encoder_layers;
  RecurrentEncoder encoder;
  encoder.state_width_ = details.state_width;
  encoder.skip_ = details.skip;
  for (Stack* stack : {&encoder.forward_, &encoder.backward_}) {
    const bool backward = stack == &encoder.backward_;
    const std::string prefix = backward ? "encoder_bi_r" : "encoder_bi";
    for (int l = 1; l <= layers; ++l) {
      const std::string name = l == 1 ? prefix : absl::StrCat(prefix, "_l", l);
      Layer& layer = stack->emplace_back();
      layer.backward = backward != (alternating && l % 2 == 0);
      ASSIGN_OR_RETURN(layer.cells,
                       ReadCells(checkpoint, name, l == 1 ? spec.d_model : details.state_width,
                                 details, l == 1, arithmetic));
    }
  }
  encoder.width_ = 2 * details.state_width;
  for (int l = 2; one_layer && l <= spec.encoder_layers; ++l) {
    Layer& layer = encoder.above_.emplace_back();
    ASSIGN_OR_RETURN(layer.cells, ReadCells(checkpoint, absl::StrCat("encoder_l", l),
                                            encoder.width_, details, false, arithmetic));
    encoder.width_ = details.state_width;
  }
  return encoder;
}

void RecurrentEncoder::Run(const TokenBatch& batch, MatrixView<const float> embedded,
                           Matrix<float>* encoded, Workspace* ws) const {
  const int tokens = embedded.rows();
  Matrix<float> forward(tokens, state_width_), backward(tokens, state_width_);
  RunStack(forward_, batch, embedded, forward.view(), ws);
  RunStack(backward_, batch, embedded, backward.view(), ws);
  Matrix<float> both(tokens, 2 * state_width_);
  for (int i = 0; i < tokens; ++i) {
    const auto end = std::copy(forward.Row(i).begin(), forward.Row(i).end(), both.Row(i).begin());
    std::copy(backward.Row(i).begin(), backward.Row(i).end(), end);
  }
  encoded->Resize(tokens, width_);
  if (above_.empty()) {
    std::swap(*encoded, both);
  } else {
    RunStack(above_, batch, both.view(), encoded->view(), ws);
  }
}

void RecurrentEncoder::RunStack(const Stack& stack, const TokenBatch& batch,
                                MatrixView<const float> in, MatrixView<float> out,
                                Workspace* ws) const {
  RunLayer(stack.front(), batch, in, out, ws);
  Matrix<float> read(out.rows(), out.cols());
  for (size_t l = 1; l < stack.size(); ++l) {
    for (int i = 0; i < out.rows(); ++i) {
      std::copy(out.Row(i).begin(), out.Row(i).end(), read.Row(i).begin());
    }
    RunLayer(stack[l], batch, read.view(), out, ws);
    if (skip_) Add(read.view(), out);
  }
}

// All sentences advance step by step, longest first, so that those which are not finished are the
// first rows of the states.
void RecurrentEncoder::RunLayer(const Layer& layer, const TokenBatch& batch,
                                MatrixView<const float> in, MatrixView<float> out,
                                Workspace* ws) const {
  const auto length = [&](int s) { return batch.starts[s + 1] - batch.starts[s]; };
  std::vector<int> order(batch.sentences());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return length(a) > length(b); });
  Matrix<float> states(batch.sentences(), state_width_);
  for (int s = 0; s < states.rows(); ++s) {
    std::fill(states.Row(s).begin(), states.Row(s).end(), 0.0f);
  }
  layer.cells.front().Project(in, &ws->projected, ws);
  int going = batch.sentences();
  for (int t = 0; going > 0; ++t) {
    while (going > 0 && length(order[going - 1]) <= t) --going;
    if (going == 0) break;
    const auto token = [&](int row) {
      const int s = order[row];
      return layer.backward ? batch.starts[s + 1] - 1 - t : batch.starts[s] + t;
    };
    const MatrixView<float> state = states.view().Rows(0, going);
    for (size_t c = 0; c < layer.cells.size(); ++c) {
      layer.cells[c].Update(
          [&](int row) -> absl::Span<const float> {
            if (c > 0) return {};
            return ws->projected.Row(token(row));
          },
          state, ws);
    }
    for (int row = 0; row < going; ++row) {
      std::copy(state.Row(row).begin(), state.Row(row).end(), out.Row(token(row)).begin());
    }
  }
}

}  // namespace dragoman
