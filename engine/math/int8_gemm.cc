// The int8 product, by an example.  One row x of two inputs, one output with weights w and no bias:
//
//   x = [0.5, 3.0]    low 0.5, scale (3.0 - 0.5) / 255      xq = [0, 255]
//   w = [1.0, -0.5]   scale 1.0 / 127                       wq = [127, -64]
//
//   sum = 0 * 127 + 255 * -64 = -16320                      an exact 32-bit integer
//   y   = x_scale * w_scale * sum + x_low * (w_scale * (127 - 64))
//       = -1.2598 + 0.2480 = -1.0118                        the true product is -1.0
//
// The second term compensates for storing x relative to its lowest value.  It needs the sum of an
// output's weights, which is known when they are packed.

#include "engine/math/int8_gemm.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "engine/math/int8_kernels.h"
#include "engine/math/kernels.h"

namespace dragoman {
namespace {

constexpr int kPanel = Int8Gemm::kPanelWidth;
constexpr int kQuad = Int8Gemm::kQuad;
constexpr int kBlock = 64;  // the inputs of a panel are a multiple of this

static_assert(kPanel == kInt8Panel && kQuad == kInt8Quad);

}  // namespace

Int8Gemm::Int8Gemm(int inputs, int outputs, absl::Span<const float> bias, Activation activation)
    : PanelGemm(inputs, outputs, bias, activation,
                {.width = kPanel,
                 .bytes = size_t{1} * RoundUp(inputs, kBlock) * kPanel,
                 .lines = kInt8LinesPerQuad,
                 .tallest_tile = kInt8TallestTile}),
      sums_(RoundUp(outputs, kPanel), 0.0f),
      scales_(RoundUp(outputs, kPanel), 0.0f),
      totals_(RoundUp(outputs, kPanel), 0) {}

absl::StatusOr<Int8Gemm> Int8Gemm::Create(MatrixView<const float> weight,
                                          absl::Span<const float> bias, Activation activation,
                                          absl::Span<const float> steps, bool pack) {
  DRAGOMAN_CHECK(weight.cols() <= kMaxInputs);
  Int8Gemm gemm(weight.cols(), weight.rows(), bias, activation);
  if (pack) gemm.panels_ = WeightMemory(gemm.panels() * gemm.shape_.bytes);
  std::vector<int8_t> values(weight.cols());
  for (int o = 0; o < weight.rows(); ++o) {
    gemm.scales_[o] = QuantizeWeights(weight.Row(o), StepOf(steps, o), values.data());
    if (std::isnan(gemm.scales_[o])) {
      return absl::InvalidArgumentError("a weight is not a finite number");
    }
    gemm.totals_[o] = std::accumulate(values.begin(), values.end(), 0);
    gemm.sums_[o] = gemm.scales_[o] * static_cast<float>(gemm.totals_[o]);
    if (pack) gemm.PackOutput(o, values);
  }
  return gemm;
}

// A block is: sums, scales, bias, totals, panels.
void Int8Gemm::Store(const std::string& name, PackedFileWriter* file) const {
  file->Add(name, {BytesOf(absl::MakeConstSpan(sums_)), BytesOf(absl::MakeConstSpan(scales_)),
                   BytesOf(absl::MakeConstSpan(bias_)), BytesOf(absl::MakeConstSpan(totals_)),
                   absl::MakeConstSpan(panels_.data(), panels() * shape_.bytes)});
}

std::optional<Int8Gemm> Int8Gemm::Restore(const std::shared_ptr<const PackedFile>& file,
                                          const std::string& name, int outputs, int inputs,
                                          Activation activation) {
  Int8Gemm gemm(inputs, outputs, {}, activation);
  absl::Span<const std::byte> block = file->Find(name);
  const size_t vector = gemm.sums_.size() * sizeof(float);
  if (block.size() != 4 * vector + gemm.panels() * gemm.shape_.bytes) return std::nullopt;
  for (void* values :
       {static_cast<void*>(gemm.sums_.data()), static_cast<void*>(gemm.scales_.data()),
        static_cast<void*>(gemm.bias_.data()), static_cast<void*>(gemm.totals_.data())}) {
    std::memcpy(values, block.data(), vector);
    block.remove_prefix(vector);
  }
  gemm.panels_ = WeightMemory(file, block.data());
  return gemm;
}

void Int8Gemm::PackOutput(int o, absl::Span<const int8_t> weights) {
  int8_t* const to = panel(o / kPanel) + o % kPanel * kQuad;
  for (size_t i = 0; i < weights.size(); ++i) {
    to[i / kQuad * (kPanel * kQuad) + i % kQuad] = weights[i];
  }
}

void Int8Gemm::AddWeights(int output, float factor, absl::Span<float> to) const {
  const int8_t* const from = panel(output / kPanel) + output % kPanel * kQuad;
  const float scale = factor * scales_[output];
  for (size_t i = 0; i < to.size(); ++i) {
    to[i] += scale * static_cast<float>(from[i / kQuad * (kPanel * kQuad) + i % kQuad]);
  }
}

void Int8Gemm::Apply(const QuantizedRows& x, int first_panel, int end_panel,
                     MatrixView<float> y) const {
  DRAGOMAN_CHECK(x.inputs == inputs_ && x.values.rows() == y.rows() && y.cols() == outputs_);
  const Int8Kernel multiply = BestInt8Kernel();
  Compute(first_panel, end_panel, y, [&](const PanelTile& tile) {
    const int first_output = tile.panel * kPanel;
    multiply({.x = x.values.Row(tile.row).data(),
              .x_stride = x.values.cols(),
              .x_scales = x.scales.data() + tile.row,
              .x_lows = x.lows.data() + tile.row,
              .weights = panel(tile.panel),
              .inputs = x.values.cols(),
              .scales = scales_.data() + first_output,
              .sums = sums_.data() + first_output,
              .bias = bias_.data() + first_output,
              .totals = totals_.data() + first_output,
              .relu = activation_ == Activation::kRelu,
              .tile = tile});
  });
}

void Int8Gemm::Finish(const QuantizedRows& x, MatrixView<const int32_t> sums, int first_row,
                      int first_panel, MatrixView<float> y) const {
  const int first = first_panel * kPanel;
  const int count = std::min(sums.cols(), outputs_ - first);
  for (int r = 0; r < sums.rows(); ++r) {
    const int row = first_row + r;
    FinishInt8Sums({.sums = sums.Row(r).data(),
                    .count = count,
                    .x_scale = x.scales[row],
                    .x_low = x.lows[row],
                    .scales = scales_.data() + first,
                    .weight_sums = sums_.data() + first,
                    .bias = bias_.data() + first,
                    .relu = activation_ == Activation::kRelu,
                    .y = &y.at(row, first)});
  }
  if (activation_ != Activation::kRelu) {
    Activate(activation_, y.Rows(first_row, sums.rows()).Cols(first, count));
  }
}

}  // namespace dragoman
