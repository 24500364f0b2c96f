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
//
// A panel holds the weights of 64 outputs, four inputs of each output side by side, because one
// VNNI instruction multiplies four u8 by four s8 and adds the products to a 32-bit sum, for 16
// outputs at a time.  The other instruction sets walk the same panels with other instructions and
// get the same integers.

#include "engine/math/int8_gemm.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "engine/math/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/math/int8_gemm.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every instruction set
// Highway's headers come after foreach_target.
#include "hwy/highway.h"

#if HWY_ONCE && HWY_ARCH_X86
#include <immintrin.h>
#endif

#ifndef DRAGOMAN_INT8_TASK_
#define DRAGOMAN_INT8_TASK_
namespace dragoman {

constexpr int kPanel = Int8Gemm::kPanelWidth;  // outputs computed together
constexpr int kQuad = Int8Gemm::kQuad;         // inputs summed by one instruction
constexpr int kBlock = 64;                     // the inputs of a panel are a multiple of this
constexpr int kLinesPerQuad = kPanel * kQuad / kCacheLine;
constexpr int kTallestTile = 6;

// One tile of the product: all that its kernels need.
struct Int8Task {
  const uint8_t* x;       // [rows, inputs]
  int x_stride;           // from one row to the next
  const float* x_scales;  // [rows]
  const float* x_lows;    // [rows]
  const int8_t* weights;  // [inputs / kQuad, kPanel, kQuad]
  int inputs;             // a multiple of kQuad
  const float* scales;    // [kPanel]
  const float* sums;      // [kPanel]
  const float* bias;      // [kPanel]
  bool relu;
  const PanelTile& tile;
};

// The sums of one row.
struct Int8Sums {
  const int32_t* sums;  // [count], with room to read a whole vector at the end
  int count;
  float x_scale, x_low;
  const float *scales, *weight_sums, *bias;  // as many
  bool relu;
  float* y;
};

}  // namespace dragoman
#endif  // DRAGOMAN_INT8_TASK_

HWY_BEFORE_NAMESPACE();
namespace dragoman {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

// Sums of the products of row x with outputs c, c + 1, ... of a panel; returns for how many.
int Sums(const Int8Task& t, const uint8_t* x, int c, int32_t* sums) {
  sums[0] = 0;
  for (int i = 0; i < t.inputs; ++i) {
    sums[0] += x[i] * t.weights[i / kQuad * (kPanel * kQuad) + c * kQuad + i % kQuad];
  }
  return 1;
}

#else

// The same: bytes are widened to 16 bits, and their products summed in pairs to 32 bits.
int Sums(const Int8Task& t, const uint8_t* x, int c, int32_t* sums) {
  const hn::ScalableTag<int16_t> d16;
  const hn::ScalableTag<int32_t> d32;
  const hn::Rebind<int8_t, decltype(d16)> d8;
  const hn::Rebind<uint8_t, decltype(d16)> du8;
  const hn::Repartition<uint32_t, decltype(du8)> dquad;
  const int columns = static_cast<int>(hn::Lanes(d16)) / kQuad;
  HWY_ALIGN int32_t pairs[hn::MaxLanes(d32)];
  auto sum0 = hn::Zero(d32), sum1 = hn::Zero(d32);
  const int8_t* weights = t.weights + c * kQuad;
  for (int i = 0; i < t.inputs; i += kQuad, weights += kPanel * kQuad) {
    uint32_t quad;
    std::memcpy(&quad, x + i, sizeof(quad));
    const auto xs = hn::PromoteTo(d16, hn::BitCast(du8, hn::Set(dquad, quad)));
    const auto ws = hn::PromoteTo(d16, hn::LoadU(d8, weights));
    sum0 = hn::ReorderWidenMulAccumulate(d32, xs, ws, sum0, sum1);
  }
  hn::Store(hn::RearrangeToOddPlusEven(sum0, sum1), d32, pairs);
  for (int j = 0; j < columns; ++j) sums[j] = pairs[2 * j] + pairs[2 * j + 1];
  return columns;
}

#endif

// Turns sums into results by the same operations as every other kernel here, so that all of them
// give the same bytes.
void FinishSums(const Int8Sums& t) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> d32;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto x_scale = hn::Set(d, t.x_scale), x_low = hn::Set(d, t.x_low), zero = hn::Zero(d);
  const auto finish = [&](int o) HWY_ATTR {
    const auto scale = hn::Mul(x_scale, hn::LoadU(d, t.scales + o));
    const auto rest = hn::MulAdd(x_low, hn::LoadU(d, t.weight_sums + o), hn::LoadU(d, t.bias + o));
    const auto y = hn::MulAdd(hn::ConvertTo(d, hn::LoadU(d32, t.sums + o)), scale, rest);
    return t.relu ? hn::IfThenElse(hn::Lt(y, zero), zero, y) : y;  // NaN passes through
  };
  int o = 0;
  for (; o + lanes <= t.count; o += lanes) hn::StoreU(finish(o), d, t.y + o);
  if (o == t.count) return;
  HWY_ALIGN float last[hn::MaxLanes(d)];
  hn::Store(finish(o), d, last);
  std::copy_n(last, t.count - o, t.y + o);
}

// For any instruction set.
void MultiplyTile(const Int8Task& t) {
  HWY_ALIGN int32_t sums[kPanel];
  for (int r = 0; r < t.tile.rows; ++r) {
    const uint8_t* const x = t.x + r * t.x_stride;
    for (int c = 0; c < kPanel; c += Sums(t, x, c, sums + c)) {
    }
    FinishSums({.sums = sums,
                .count = kPanel,
                .x_scale = t.x_scales[r],
                .x_low = t.x_lows[r],
                .scales = t.scales,
                .weight_sums = t.sums,
                .bias = t.bias,
                .relu = t.relu,
                .y = t.tile.y + r * t.tile.y_stride});
  }
}

void QuantizeRow(const float* x, int n, int padded, uint8_t* values, float* scale, float* low) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const int lanes = static_cast<int>(hn::Lanes(d));
  auto maxima = hn::Set(d, x[0]), minima = maxima;
  int i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto v = hn::LoadU(d, x + i);
    maxima = hn::Max(maxima, v), minima = hn::Min(minima, v);
  }
  float max = hn::GetLane(hn::MaxOfLanes(d, maxima));
  float min = hn::GetLane(hn::MinOfLanes(d, minima));
  for (; i < n; ++i) max = std::max(max, x[i]), min = std::min(min, x[i]);
  if (!(max - min <= std::numeric_limits<float>::max())) {
    *scale = *low = std::numeric_limits<float>::quiet_NaN();  // infinite: no scale fits
    std::fill_n(values, padded, uint8_t{0});
    return;
  }
  *low = min;
  *scale = (max - min) / 255.0f;
  const float inverse = max > min ? 255.0f / (max - min) : 0.0f;
  const auto inverses = hn::Set(d, inverse), lows = hn::Set(d, min);
  for (i = 0; i + lanes <= n; i += lanes) {
    const auto rounded = hn::NearestInt(hn::Mul(hn::Sub(hn::LoadU(d, x + i), lows), inverses));
    hn::StoreU(hn::DemoteTo(d8, rounded), d8, values + i);
  }
  for (; i < n; ++i) values[i] = static_cast<uint8_t>(std::lrint((x[i] - min) * inverse));
  for (; i < padded; ++i) values[i] = 0;
}

bool HasAvx512() { return HWY_ARCH_X86 && HWY_MAX_BYTES == 64; }

}  // namespace HWY_NAMESPACE
}  // namespace dragoman
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman {
namespace {

HWY_EXPORT(FinishSums);
HWY_EXPORT(HasAvx512);
HWY_EXPORT(MultiplyTile);
HWY_EXPORT(QuantizeRow);

void MultiplyAnywhere(const Int8Task& task) { HWY_DYNAMIC_DISPATCH(MultiplyTile)(task); }

#if HWY_ARCH_X86
#define DRAGOMAN_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))

// kRows rows times one panel, with kRows x 4 vectors of sums in registers, prefetching kLines cache
// lines per quad of inputs.
template <int kRows, int kLines>
DRAGOMAN_VNNI void MultiplyTileVnni(const Int8Task& t) {
  constexpr int kVectors = kPanel / 16;
  __m512i sums[kRows][kVectors];
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) sums[r][j] = _mm512_setzero_si512();
  }
  const int8_t* weights = t.weights;
  const int8_t* prefetch = t.weights + t.tile.prefetch;
  const ptrdiff_t prefetch_stride = t.tile.prefetch_stride;
  RowCursor<uint8_t, kRows> x(t.x, t.x_stride);
  for (int i = 0; i < t.inputs; i += kQuad, weights += kPanel * kQuad, x.Advance(kQuad)) {
#pragma GCC unroll 4
    for (int line = 0; line < kLines; ++line, prefetch += prefetch_stride) {
      // A single tile needs soon what it prefetches.
      _mm_prefetch(prefetch, kLines == kLinesPerQuad ? _MM_HINT_T0 : _MM_HINT_T1);
    }
    if constexpr (kLines < 2) {
#pragma GCC unroll 4
      for (int line = 0; line < kLinesPerQuad; ++line) {
        _mm_prefetch(weights + kNear + line * kCacheLine, _MM_HINT_T0);
      }
    }
    __m512i w[kVectors];
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) w[j] = _mm512_load_si512(weights + 64 * j);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      int32_t quad;
      std::memcpy(&quad, x.row(r), sizeof(quad));
      const __m512i inputs = _mm512_set1_epi32(quad);
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
        // In assembly, because GCC 12 copies the sums back and forth around the intrinsic.
        asm("vpdpbusd %2, %1, %0" : "+v"(sums[r][j]) : "v"(inputs), "v"(w[j]));
      }
    }
  }
  // In locals, because GCC assumes that any store could change the task.
  const float *const scales = t.scales, *const weight_sums = t.sums, *const bias = t.bias;
  const float *const x_scales = t.x_scales, *const x_lows = t.x_lows;
  float* const out = t.tile.y;
  const int stride = t.tile.y_stride;
  const __m512 least = _mm512_set1_ps(t.relu ? 0.0f : -std::numeric_limits<float>::infinity());
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    const __m512 x_scale = _mm512_set1_ps(x_scales[r]);
    const __m512 x_low = _mm512_set1_ps(x_lows[r]);
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      const __m512 scale = _mm512_mul_ps(x_scale, _mm512_loadu_ps(scales + 16 * j));
      const __m512 rest = _mm512_fmadd_ps(x_low, _mm512_loadu_ps(weight_sums + 16 * j),
                                          _mm512_loadu_ps(bias + 16 * j));
      const __m512 y = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums[r][j]), scale, rest);
      // If one operand is NaN, the second is returned, so NaN passes through.
      _mm512_storeu_ps(out + r * stride + 16 * j, _mm512_max_ps(least, y));
    }
  }
}

template <int kRows>
void MultiplyRowsVnni(const Int8Task& task) {
  if constexpr (kRows > 1) {
    if (task.tile.rows < kRows) return MultiplyRowsVnni<kRows - 1>(task);
  }
  switch (task.tile.prefetch_lines) {
    case 0:
      return MultiplyTileVnni<kRows, 0>(task);
    case 1:
      return MultiplyTileVnni<kRows, 1>(task);
    case 2:
      return MultiplyTileVnni<kRows, 2>(task);
    default:
      return MultiplyTileVnni<kRows, kLinesPerQuad>(task);
  }
}

void MultiplyVnni(const Int8Task& task) { MultiplyRowsVnni<kTallestTile>(task); }
#endif  // HWY_ARCH_X86

using Kernel = void (*)(const Int8Task&);

Kernel BestKernel() {
#if HWY_ARCH_X86
  if (HasVnni()) return MultiplyVnni;
#endif
  return MultiplyAnywhere;
}

int RoundUp(int n, int multiple) { return (n + multiple - 1) / multiple * multiple; }

}  // namespace

bool HasVnni() {
#if HWY_ARCH_X86
  static const bool has = __builtin_cpu_supports("avx512vnni") &&
                          __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  return has && HWY_DYNAMIC_DISPATCH(HasAvx512)();
#else
  return false;
#endif
}

void QuantizedRows::Resize(int rows, int its_inputs) {
  inputs = its_inputs;
  values.Resize(rows, RoundUp(inputs, kQuad));
  if (static_cast<int>(scales.size()) < rows) {
    scales.resize(rows);
    lows.resize(rows);
  }
}

void QuantizeRows(MatrixView<const float> x, int first, int end, QuantizedRows* rows) {
  DRAGOMAN_CHECK(rows->inputs == x.cols() && rows->values.rows() == x.rows());
  for (int r = first; r < end; ++r) {
    HWY_DYNAMIC_DISPATCH(QuantizeRow)
    (x.Row(r).data(), x.cols(), rows->values.cols(), rows->values.Row(r).data(), &rows->scales[r],
     &rows->lows[r]);
  }
}

float QuantizeWeights(absl::Span<const float> weights, float step, int8_t* values) {
  float max = 0.0f;
  for (const float w : weights) {
    if (!std::isfinite(w)) return std::numeric_limits<float>::quiet_NaN();
    max = std::max(max, std::abs(w));
  }
  if (step > 0.0f) {
    for (size_t i = 0; i < weights.size(); ++i) {
      values[i] = static_cast<int8_t>(std::clamp(std::lrint(weights[i] / step), -127L, 127L));
    }
    return step;
  }
  const float inverse = max > 0.0f ? 127.0f / max : 0.0f;
  for (size_t i = 0; i < weights.size(); ++i) {
    values[i] = static_cast<int8_t>(std::lrint(weights[i] * inverse));
  }
  return max / 127.0f;
}

absl::StatusOr<Int8Gemm> Int8Gemm::Create(MatrixView<const float> weight,
                                          absl::Span<const float> bias, Activation activation,
                                          absl::Span<const float> steps, bool pack) {
  DRAGOMAN_CHECK(weight.cols() <= kMaxInputs);
  DRAGOMAN_CHECK(bias.empty() || static_cast<int>(bias.size()) == weight.rows());
  Int8Gemm gemm;
  gemm.inputs_ = weight.cols();
  gemm.outputs_ = weight.rows();
  gemm.activation_ = activation;
  const int padded_inputs = RoundUp(weight.cols(), kBlock);
  const int padded_outputs = RoundUp(weight.rows(), kPanel);
  gemm.shape_ = {.width = kPanel,
                 .bytes = size_t{1} * padded_inputs * kPanel,
                 .lines = kLinesPerQuad,
                 .tallest_tile = kTallestTile};
  if (pack) gemm.panels_ = WeightMemory(size_t{1} * padded_outputs * padded_inputs);
  gemm.sums_.assign(padded_outputs, 0.0f);
  gemm.scales_.assign(padded_outputs, 0.0f);
  gemm.bias_.assign(padded_outputs, 0.0f);
  std::copy(bias.begin(), bias.end(), gemm.bias_.begin());
  std::vector<int8_t> values(weight.cols());
  for (int o = 0; o < weight.rows(); ++o) {
    gemm.scales_[o] = QuantizeWeights(weight.Row(o), StepOf(steps, o), values.data());
    if (std::isnan(gemm.scales_[o])) {
      return absl::InvalidArgumentError("a weight is not a finite number");
    }
    const int32_t sum = std::accumulate(values.begin(), values.end(), 0);
    gemm.sums_[o] = gemm.scales_[o] * static_cast<float>(sum);
    if (pack) gemm.PackOutput(o, values);
  }
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
  const Kernel multiply = BestKernel();
  ForEachTile(shape_, first_panel, end_panel, y, [&](const PanelTile& tile) {
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
              .relu = activation_ == Activation::kRelu,
              .tile = tile});
  });
  if (activation_ != Activation::kRelu) {
    Activate(activation_, PanelColumns(shape_, first_panel, end_panel, y));
  }
}

void Int8Gemm::Finish(const QuantizedRows& x, MatrixView<const int32_t> sums, int first_row,
                      int first_panel, MatrixView<float> y) const {
  const int first = first_panel * kPanel;
  const int count = std::min(sums.cols(), outputs_ - first);
  for (int r = 0; r < sums.rows(); ++r) {
    const int row = first_row + r;
    HWY_DYNAMIC_DISPATCH(FinishSums)
    ({.sums = sums.Row(r).data(),
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

std::string Int8Isa() { return HasVnni() ? "avx512_vnni" : HighwayIsa(); }

}  // namespace dragoman
#endif  // HWY_ONCE
