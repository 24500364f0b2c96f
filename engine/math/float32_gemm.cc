#include "engine/math/float32_gemm.h"

#include <algorithm>
#include <vector>

#include "engine/math/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/math/float32_gemm.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every instruction set
// Highway's headers come after foreach_target.
#include "hwy/highway.h"

#ifndef DRAGOMAN_FLOAT32_TASK_
#define DRAGOMAN_FLOAT32_TASK_
namespace dragoman {

// One tile of the product: all that its kernels need.
struct Float32Task {
  const float* x;        // [rows, inputs], those of a block
  int x_stride;          // from one row to the next
  const float* weights;  // [inputs, panel width]
  int inputs;
  int width;          // of the panel
  const float* bias;  // [panel width]
  bool relu;
  const PanelTile& tile;
};

}  // namespace dragoman
#endif  // DRAGOMAN_FLOAT32_TASK_

HWY_BEFORE_NAMESPACE();
namespace dragoman {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// A panel has a few vectors of outputs, which are whole cache lines of weights if vectors are wide
// enough.  A tile has as many rows as keep all its sums in registers, beside a number of x and the
// weights that it is multiplied by.
struct Shape {
  int rows, vectors;
};
#if HWY_TARGET == HWY_AVX2  // 16 registers
constexpr Shape kShapes[] = {{6, 2}, {4, 3}};
#elif HWY_ARCH_X86 && HWY_MAX_BYTES < 32
constexpr Shape kShapes[] = {{2, 4}};
#elif HWY_MAX_BYTES >= 32  // 32 registers
constexpr Shape kShapes[] = {{12, 2}, {8, 3}, {6, 4}};
#else
constexpr Shape kShapes[] = {{6, 4}};
#endif
constexpr int kShapeCount = sizeof(kShapes) / sizeof(kShapes[0]);

// kRows rows times a block of a panel, prefetching kLines cache lines per input.
template <int kVectors, int kRows, int kLines>
void MultiplyTile(const Float32Task& t) {
  constexpr int kLinesPerInput = (kVectors * HWY_MAX_BYTES + kCacheLine - 1) / kCacheLine;
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const bool first = t.tile.block == 0, last = t.tile.block + 1 == t.tile.blocks;
  V sums[kRows][kVectors];
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) sums[r][j] = hn::Zero(d);
  }
  if (!first) {
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
        sums[r][j] = hn::LoadU(d, t.tile.y + r * t.tile.y_stride + j * lanes);
      }
    }
  }
  const float* weights = t.weights;
  const char* prefetch = reinterpret_cast<const char*>(t.weights) + t.tile.prefetch;
  const ptrdiff_t prefetch_stride = t.tile.prefetch_stride;
  RowCursor<float, kRows> x(t.x, t.x_stride);
  for (int i = 0; i < t.inputs; ++i, weights += kVectors * lanes, x.Advance(1)) {
#pragma GCC unroll 4
    for (int line = 0; line < kLines; ++line, prefetch += prefetch_stride) {
      __builtin_prefetch(prefetch);
    }
    if constexpr (kLines < 2) {
#pragma GCC unroll 4
      for (int line = 0; line < kLinesPerInput; ++line) {
        __builtin_prefetch(reinterpret_cast<const char*>(weights) + kNear + line * kCacheLine);
      }
    }
    V w[kVectors];
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) w[j] = hn::Load(d, weights + j * lanes);
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
      const V input = hn::Set(d, *x.row(r));
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) sums[r][j] = hn::MulAdd(input, w[j], sums[r][j]);
    }
  }
  const V zero = hn::Zero(d);
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      V y = sums[r][j];
      if (last) y = hn::Add(y, hn::LoadU(d, t.bias + j * lanes));
      if (last && t.relu) y = hn::IfThenElse(hn::Lt(y, zero), zero, y);  // NaN passes through
      hn::StoreU(y, d, t.tile.y + r * t.tile.y_stride + j * lanes);
    }
  }
}

template <int kVectors, int kRows>
void MultiplyRows(const Float32Task& t) {
  if constexpr (kRows > 1) {
    if (t.tile.rows < kRows) return MultiplyRows<kVectors, kRows - 1>(t);
  }
  switch (t.tile.prefetch_lines) {
    case 0:
      return MultiplyTile<kVectors, kRows, 0>(t);
    case 1:
      return MultiplyTile<kVectors, kRows, 1>(t);
    case 2:
      return MultiplyTile<kVectors, kRows, 2>(t);
    default:
      return MultiplyTile<kVectors, kRows, std::max(2, kVectors)>(t);
  }
}

// The shape is the one whose panels have this width.  None has it if the weights were packed for
// another instruction set.
template <int kIndex = 0>
void MultiplyIn(const Float32Task& t) {
  const bool is_this = t.width == kShapes[kIndex].vectors * static_cast<int>(hn::Lanes(D()));
  if constexpr (kIndex + 1 < kShapeCount) {
    if (!is_this) return MultiplyIn<kIndex + 1>(t);
  }
  DRAGOMAN_CHECK(is_this && "a kernel has the width of the panels");
  MultiplyRows<kShapes[kIndex].vectors, kShapes[kIndex].rows>(t);
}

void Multiply(const Float32Task& t) { MultiplyIn(t); }

absl::Span<const Float32Gemm::Tile> Tiles() {
  static const auto tiles = [] {
    std::vector<Float32Gemm::Tile> all;
    for (const auto& [rows, vectors] : kShapes) {
      all.push_back({rows, vectors * static_cast<int>(hn::Lanes(D()))});
    }
    return all;
  }();
  return tiles;
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman {
namespace {

HWY_EXPORT(Multiply);
HWY_EXPORT(Tiles);

// A block of weights stays in the second level cache, where it needs room beside the next one.
constexpr size_t kBlockBytes = size_t{128} << 10;

PanelShape ShapeFor(int inputs, const Float32Gemm::Tile& tile) {
  const size_t line = sizeof(float) * tile.outputs;  // the weights of an input
  const size_t bytes = line * inputs;
  return {.width = tile.outputs,
          .bytes = bytes,
          .lines = (static_cast<int>(line) + kCacheLine - 1) / kCacheLine,
          .tallest_tile = tile.rows,
          .blocks = std::max(1, static_cast<int>((bytes + kBlockBytes - 1) / kBlockBytes))};
}

}  // namespace

absl::Span<const Float32Gemm::Tile> Float32Gemm::Tiles() { return HWY_DYNAMIC_DISPATCH(Tiles)(); }

int Float32Gemm::RowStride(int rows, int inputs) {
  constexpr int kPowerOfTwo = 4096;  // the least number of bytes in a way of a first level cache
  constexpr int kFewRows = 8;        // so few rows fit into it in any case
  const bool conflict = rows > kFewRows && inputs * sizeof(float) % kPowerOfTwo == 0;
  return conflict ? inputs + kCacheLine / static_cast<int>(sizeof(float)) : inputs;
}

Float32Gemm::Float32Gemm(MatrixView<const float> weight, absl::Span<const float> bias,
                         Activation activation, const Tile& tile)
    : PanelGemm(weight.cols(), weight.rows(), bias, activation, ShapeFor(weight.cols(), tile)) {
  panels_ = WeightMemory(panels() * shape_.bytes);
  const int width = shape_.width;
  for (int o = 0; o < outputs_; ++o) {
    const absl::Span<const float> from = weight.Row(o);
    float* const to = panel(o / width) + o % width;
    for (int i = 0; i < inputs_; ++i) to[static_cast<size_t>(i) * width] = from[i];
  }
}

void Float32Gemm::AddWeights(int output, float factor, absl::Span<float> to) const {
  const int width = shape_.width;
  const float* const from = panel(output / width) + output % width;
  for (size_t i = 0; i < to.size(); ++i) to[i] += factor * from[i * width];
}

void Float32Gemm::Apply(MatrixView<const float> x, int first_panel, int end_panel,
                        MatrixView<float> y) const {
  DRAGOMAN_CHECK(x.cols() == inputs_ && y.cols() == outputs_ && x.rows() == y.rows());
  const auto multiply = HWY_DYNAMIC_DISPATCH(Multiply);
  Compute(first_panel, end_panel, y, [&](const PanelTile& tile) {
    const int block = (inputs_ + tile.blocks - 1) / tile.blocks, input = tile.block * block;
    multiply({.x = x.Row(tile.row).data() + input,
              .x_stride = x.stride(),
              .weights = panel(tile.panel) + static_cast<size_t>(input) * shape_.width,
              .inputs = std::min(block, inputs_ - input),
              .width = shape_.width,
              .bias = bias_.data() + tile.panel * shape_.width,
              .relu = activation_ == Activation::kRelu,
              .tile = tile});
  });
}

}  // namespace dragoman
#endif  // HWY_ONCE
