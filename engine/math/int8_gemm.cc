#include "engine/math/int8_gemm.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/math/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/math/int8_gemm.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every instruction set
// Highway's headers come after foreach_target.
#include "hwy/highway.h"

#if HWY_ONCE && HWY_ARCH_X86
#include <immintrin.h>
#endif

#ifndef DRAGOMAN_INT8_PANEL_
#define DRAGOMAN_INT8_PANEL_
namespace dragoman {

constexpr int kPanel = 64;  // outputs that are computed together
constexpr int kQuad = 4;    // inputs that one instruction sums up
constexpr int kLine = 64;   // bytes of a cache line
constexpr int kLinesPerQuad = kPanel * kQuad / kLine;

// One panel of the product for a few rows: all that its kernels need to know.
struct PanelTask {
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
  float* y;  // [rows, kPanel]
  int y_stride;
  // What to fetch on the way: so many cache lines (0, 1, 2 or kLinesPerQuad) for every quad.
  const int8_t* prefetch;
  int prefetch_lines;
};

}  // namespace dragoman
#endif  // DRAGOMAN_INT8_PANEL_

HWY_BEFORE_NAMESPACE();
namespace dragoman {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Any instruction set: bytes widened to 16 bits, whose products are summed in pairs to 32 bits.
void MultiplyPanel(const PanelTask& t, int rows) {
  const hn::ScalableTag<int16_t> d16;
  const hn::ScalableTag<int32_t> d32;
  const hn::Rebind<int8_t, decltype(d16)> d8;
  const hn::Rebind<uint8_t, decltype(d16)> du8;
  const hn::Repartition<uint32_t, decltype(du8)> dquad;
  const int columns = static_cast<int>(hn::Lanes(d16)) / kQuad;
  HWY_ALIGN int32_t pairs[hn::MaxLanes(d32)];
  for (int r = 0; r < rows; ++r) {
    const uint8_t* const x = t.x + r * t.x_stride;
    for (int c = 0; c < kPanel; c += columns) {
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
      for (int j = 0; j < columns; ++j) {
        const int o = c + j;
        const int32_t sum = pairs[2 * j] + pairs[2 * j + 1];
        const float y = static_cast<float>(sum) * (t.x_scales[r] * t.scales[o]) +
                        (t.x_lows[r] * t.sums[o] + t.bias[o]);
        t.y[r * t.y_stride + o] = t.relu && y < 0.0f ? 0.0f : y;
      }
    }
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
    *scale = *low = std::numeric_limits<float>::quiet_NaN();  // infinite: nothing to hold on to
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

}  // namespace HWY_NAMESPACE
}  // namespace dragoman
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman {
namespace {

HWY_EXPORT(MultiplyPanel);
HWY_EXPORT(QuantizeRow);

void MultiplyPanelAnywhere(const PanelTask& task, int rows) {
  HWY_DYNAMIC_DISPATCH(MultiplyPanel)(task, rows);
}

#if HWY_ARCH_X86
#define DRAGOMAN_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))

// kRows rows by one panel, with kRows x 4 vectors of sums in registers, fetching kLines cache lines
// for every quad of inputs.
template <int kRows, int kLines>
DRAGOMAN_VNNI void MultiplyTileVnni(const PanelTask& t) {
  constexpr int kVectors = kPanel / 16;
  __m512i sums[kRows][kVectors];
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) sums[r][j] = _mm512_setzero_si512();
  }
  const int8_t* weights = t.weights;
  const int8_t* prefetch = t.prefetch;
  for (int i = 0; i < t.inputs; i += kQuad, weights += kPanel * kQuad) {
#pragma GCC unroll 4
    for (int line = 0; line < kLines; ++line) {
      // A single tile needs what it fetches soon.
      _mm_prefetch(prefetch + line * kLine, kLines == kLinesPerQuad ? _MM_HINT_T0 : _MM_HINT_T1);
    }
    prefetch += kLines * kLine;
    __m512i w[kVectors];
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) w[j] = _mm512_load_si512(weights + 64 * j);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      int32_t quad;
      std::memcpy(&quad, t.x + r * t.x_stride + i, sizeof(quad));
      const __m512i x = _mm512_set1_epi32(quad);
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
        // As assembly because GCC 12 copies the sums to and fro around the intrinsic.
        asm("vpdpbusd %2, %1, %0" : "+v"(sums[r][j]) : "v"(x), "v"(w[j]));
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    const __m512 x_scale = _mm512_set1_ps(t.x_scales[r]);
    const __m512 x_low = _mm512_set1_ps(t.x_lows[r]);
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      const __m512 scale = _mm512_mul_ps(x_scale, _mm512_loadu_ps(t.scales + 16 * j));
      __m512 y = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums[r][j]), scale,
                                 _mm512_fmadd_ps(x_low, _mm512_loadu_ps(t.sums + 16 * j),
                                                 _mm512_loadu_ps(t.bias + 16 * j)));
      // The second operand is returned if one is NaN, so NaN passes through.
      if (t.relu) y = _mm512_max_ps(_mm512_setzero_ps(), y);
      _mm512_storeu_ps(t.y + r * t.y_stride + 16 * j, y);
    }
  }
}

template <int kRows>
void MultiplyRowsVnni(const PanelTask& task) {
  switch (task.prefetch_lines) {
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

void MultiplyPanelVnni(const PanelTask& task, int rows) {
  switch (rows) {
    case 1:
      return MultiplyRowsVnni<1>(task);
    case 2:
      return MultiplyRowsVnni<2>(task);
    case 3:
      return MultiplyRowsVnni<3>(task);
    case 4:
      return MultiplyRowsVnni<4>(task);
    case 5:
      return MultiplyRowsVnni<5>(task);
    default:
      return MultiplyRowsVnni<6>(task);
  }
}

bool HasVnni() {
  return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl");
}
#endif  // HWY_ARCH_X86

// Multiplies up to kMaxTileRows rows by a panel.
using PanelKernel = void (*)(const PanelTask&, int rows);
constexpr int kMaxTileRows = 6;

PanelKernel BestKernel() {
#if HWY_ARCH_X86
  static const PanelKernel kernel = HasVnni() ? MultiplyPanelVnni : MultiplyPanelAnywhere;
  return kernel;
#else
  return MultiplyPanelAnywhere;
#endif
}

int RoundUp(int n, int multiple) { return (n + multiple - 1) / multiple * multiple; }

}  // namespace

void QuantizeRows(MatrixView<const float> x, QuantizedRows* rows) {
  const int padded = RoundUp(x.cols(), kQuad);
  rows->inputs = x.cols();
  rows->values.Resize(x.rows(), padded);
  if (static_cast<int>(rows->scales.size()) < x.rows()) {
    rows->scales.resize(x.rows());
    rows->lows.resize(x.rows());
  }
  for (int r = 0; r < x.rows(); ++r) {
    HWY_DYNAMIC_DISPATCH(QuantizeRow)
    (x.Row(r).data(), x.cols(), padded, rows->values.Row(r).data(), &rows->scales[r],
     &rows->lows[r]);
  }
}

float QuantizeWeights(absl::Span<const float> weights, int8_t* values) {
  float max = 0.0f;
  for (const float w : weights) {
    if (!std::isfinite(w)) return std::numeric_limits<float>::quiet_NaN();
    max = std::max(max, std::abs(w));
  }
  const float inverse = max > 0.0f ? 127.0f / max : 0.0f;
  for (size_t i = 0; i < weights.size(); ++i) {
    values[i] = static_cast<int8_t>(std::lrint(weights[i] * inverse));
  }
  return max / 127.0f;
}

absl::StatusOr<Int8Gemm> Int8Gemm::Create(MatrixView<const float> weight,
                                          absl::Span<const float> bias, Activation activation) {
  DRAGOMAN_CHECK(weight.cols() <= kMaxInputs);
  DRAGOMAN_CHECK(bias.empty() || static_cast<int>(bias.size()) == weight.rows());
  Int8Gemm gemm;
  gemm.inputs_ = weight.cols();
  gemm.outputs_ = weight.rows();
  gemm.activation_ = activation;
  const int padded_inputs = RoundUp(weight.cols(), kQuad);
  const int padded_outputs = RoundUp(weight.rows(), kPanel);
  gemm.panel_bytes_ = padded_inputs * kPanel;
  gemm.panels_ = WeightMemory(size_t{1} * padded_outputs * padded_inputs);
  gemm.sums_.assign(padded_outputs, 0.0f);
  gemm.scales_.assign(padded_outputs, 0.0f);
  gemm.bias_.assign(padded_outputs, 0.0f);
  std::copy(bias.begin(), bias.end(), gemm.bias_.begin());
  std::vector<int8_t> values(weight.cols());
  for (int o = 0; o < weight.rows(); ++o) {
    gemm.scales_[o] = QuantizeWeights(weight.Row(o), values.data());
    if (std::isnan(gemm.scales_[o])) {
      return absl::InvalidArgumentError("a weight is not a finite number");
    }
    gemm.PackOutput(o, values);
  }
  return gemm;
}

void Int8Gemm::PackOutput(int o, absl::Span<const int8_t> weights) {
  int8_t* const to = panel(o / kPanel) + o % kPanel * kQuad;
  int32_t sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    to[i / kQuad * (kPanel * kQuad) + i % kQuad] = weights[i];
    sum += weights[i];
  }
  sums_[o] = scales_[o] * static_cast<float>(sum);
}

void Int8Gemm::Apply(const QuantizedRows& x, MatrixView<float> y) const {
  DRAGOMAN_CHECK(x.inputs == inputs_ && x.values.rows() == y.rows() && y.cols() == outputs_);
  const PanelKernel multiply = BestKernel();
  const int tiles = (y.rows() + kMaxTileRows - 1) / kMaxTileRows;
  // While the tiles of one panel are computed, the next one is fetched: a half by each of two
  // tiles, a quarter by each of the first four of more.  A single tile runs through a panel at once
  // and fetches what it will need soon.
  const int lines = tiles == 1 ? kLinesPerQuad : tiles < kLinesPerQuad ? kLinesPerQuad / 2 : 1;
  const int distance = tiles == 1 ? 4096 : panel_bytes_;
  const int tile_bytes = panel_bytes_ / kLinesPerQuad * lines;  // that one tile fetches
  alignas(64) float last[kMaxTileRows * kPanel];                // of a panel that is not full
  PanelTask task;
  task.x_stride = task.inputs = x.values.cols();
  task.relu = activation_ == Activation::kRelu;
  for (int p = 0; p * kPanel < outputs_; ++p) {
    const int first_output = p * kPanel;
    const int outputs = std::min(kPanel, outputs_ - first_output);
    task.weights = panel(p);
    task.sums = sums_.data() + first_output;
    task.scales = scales_.data() + first_output;
    task.bias = bias_.data() + first_output;
    for (int tile = 0; tile < tiles; ++tile) {
      // Tiles of about the same height: 8 rows are 4 and 4, not 6 and 2.
      const int first = tile * y.rows() / tiles;
      const int rows = (tile + 1) * y.rows() / tiles - first;
      task.x = x.values.Row(first).data();
      task.x_scales = x.scales.data() + first;
      task.x_lows = x.lows.data() + first;
      task.prefetch = task.weights + distance + tile * tile_bytes;
      task.prefetch_lines = tile * tile_bytes < panel_bytes_ ? lines : 0;
      const bool full = outputs == kPanel;
      task.y = full ? &y.at(first, first_output) : last;
      task.y_stride = full ? y.stride() : kPanel;
      multiply(task, rows);
      for (int r = 0; !full && r < rows; ++r) {
        std::copy_n(last + r * kPanel, outputs, &y.at(first + r, first_output));
      }
    }
  }
  if (activation_ == Activation::kSilu || activation_ == Activation::kGelu) {
    Activate(activation_, y);
  }
}

std::string Int8Isa() {
#if HWY_ARCH_X86
  if (HasVnni()) return "avx512_vnni";
#endif
  std::string name = hwy::TargetName(hwy::SupportedTargets() & -hwy::SupportedTargets());
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return name;
}

}  // namespace dragoman
#endif  // HWY_ONCE
