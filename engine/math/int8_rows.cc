#include "engine/math/int8_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "engine/math/int8_arm.h"
#include "engine/math/int8_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/math/int8_rows.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every instruction set
// Highway's headers come after foreach_target.
#include "engine/math/row_sums-inl.h"
#include "hwy/highway.h"

#if HWY_ONCE && HWY_ARCH_X86
#include <immintrin.h>
#endif

#ifndef DRAGOMAN_INT8_ROWS_
#define DRAGOMAN_INT8_ROWS_
namespace dragoman {

constexpr int kGroup = 4;   // outputs computed together
constexpr int kBlock = 64;  // inputs multiplied at once, and bytes of a cache line
constexpr int kTallestTile = 5;

// Some rows times a group of outputs: all that the kernels need.
struct GroupTask {
  const uint8_t* x;       // [rows, inputs]
  int x_stride;           // from one row to the next
  const float* x_scales;  // [rows]
  const float* x_lows;    // [rows]
  int inputs;             // a multiple of 4
  const int8_t* weights[kGroup];
  const Int8Rows::Output* outputs[kGroup];
  const int8_t* prefetch[kGroup];  // the weights of outputs that come up soon
  const PanelTile& tile;
};

}  // namespace dragoman
#endif  // DRAGOMAN_INT8_ROWS_

HWY_BEFORE_NAMESPACE();
namespace dragoman {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// sum x[i] * w[i], with 16-bit factors whose products are summed in pairs to 32 bits.
int32_t Dot(const uint8_t* x, const int8_t* w, int n) {
  const hn::ScalableTag<int16_t> d16;
  const hn::ScalableTag<int32_t> d32;
  const hn::Rebind<int8_t, decltype(d16)> d8;
  const hn::Rebind<uint8_t, decltype(d16)> du8;
  const int lanes = static_cast<int>(hn::Lanes(d16));
  auto sum0 = hn::Zero(d32), sum1 = hn::Zero(d32);
  int i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto xs = hn::PromoteTo(d16, hn::LoadU(du8, x + i));
    const auto ws = hn::PromoteTo(d16, hn::LoadU(d8, w + i));
    sum0 = hn::ReorderWidenMulAccumulate(d32, xs, ws, sum0, sum1);
  }
  int32_t sum = hn::GetLane(hn::SumOfLanes(d32, hn::Add(sum0, sum1)));
  for (; i < n; ++i) sum += x[i] * w[i];
  return sum;
}

// The result that the sum of a row and an output stands for.
HWY_INLINE void Finish(const GroupTask& t, int r, int j, int32_t sum) {
  const Int8Rows::Output& output = *t.outputs[j];
  const float rest = MulAddOne(t.x_lows[r], output.sum, output.bias);
  t.tile.y[r * t.tile.y_stride + j] =
      MulAddOne(static_cast<float>(sum), t.x_scales[r] * output.scale, rest);
}

// For any instruction set.
void MultiplyGroup(const GroupTask& t) {
  for (int r = 0; r < t.tile.rows; ++r) {
    for (int j = 0; j < kGroup; ++j) {
      Finish(t, r, j, Dot(t.x + r * t.x_stride, t.weights[j], t.inputs));
    }
  }
}

#if HWY_ARCH_ARM_A64
void MultiplyGroupByDot(const GroupTask& t) {
  static_assert(kGroup == ArmDots::kOutputs);
  ArmDots dots = {.x = t.x, .x_stride = t.x_stride, .rows = t.tile.rows, .inputs = t.inputs};
  for (int j = 0; j < kGroup; ++j) {
    dots.weights[j] = t.weights[j];
    dots.totals[j] = t.outputs[j]->total;
    for (int i = 0; i < t.inputs; i += kBlock) __builtin_prefetch(t.prefetch[j] + i);
  }
  int32_t sums[kTallestTile][kGroup];
  SumDots(dots, sums);
  for (int r = 0; r < t.tile.rows; ++r) {
    for (int j = 0; j < kGroup; ++j) Finish(t, r, j, sums[r][j]);
  }
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace dragoman
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman {
namespace {

HWY_EXPORT(MultiplyGroup);

void MultiplyGroupAnywhere(const GroupTask& task) { HWY_DYNAMIC_DISPATCH(MultiplyGroup)(task); }

#if HWY_ARCH_X86
#define DRAGOMAN_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni,fma")))

// The sum of the lanes of each of four vectors.
DRAGOMAN_VNNI inline __m128i SumsOfLanes(const __m512i* v) {
  const __m512i ab =
      _mm512_add_epi32(_mm512_unpacklo_epi32(v[0], v[1]), _mm512_unpackhi_epi32(v[0], v[1]));
  const __m512i cd =
      _mm512_add_epi32(_mm512_unpacklo_epi32(v[2], v[3]), _mm512_unpackhi_epi32(v[2], v[3]));
  // In each 128 bits: a part of the sums of a, b, c and d.
  const __m512i abcd =
      _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
  const __m256i half =
      _mm256_add_epi32(_mm512_castsi512_si256(abcd), _mm512_extracti64x4_epi64(abcd, 1));
  return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

// kRows rows times a group, with kRows x 4 vectors of sums in registers.
template <int kRows>
DRAGOMAN_VNNI void MultiplyGroupVnni(const GroupTask& t) {
  __m512i sums[kRows][kGroup];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int j = 0; j < kGroup; ++j) sums[r][j] = _mm512_setzero_si512();
  }
  for (int i = 0; i < t.inputs; i += kBlock) {
    // A row of x may end before the weights, which are zero there.
    const __mmask64 mask = ~uint64_t{0} >> (kBlock - std::min(kBlock, t.inputs - i));
    __m512i w[kGroup];
#pragma GCC unroll 4
    for (int j = 0; j < kGroup; ++j) {
      w[j] = _mm512_load_si512(t.weights[j] + i);
      _mm_prefetch(t.prefetch[j] + i, _MM_HINT_T0);
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const __m512i x = _mm512_maskz_loadu_epi8(mask, t.x + r * t.x_stride + i);
#pragma GCC unroll 4
      for (int j = 0; j < kGroup; ++j) {
        // In assembly, because GCC 12 copies the sums back and forth around the intrinsic.
        asm("vpdpbusd %2, %1, %0" : "+v"(sums[r][j]) : "v"(x), "v"(w[j]));
      }
    }
  }
  const auto& o = t.outputs;
  const __m128 sums_of_weights = _mm_setr_ps(o[0]->sum, o[1]->sum, o[2]->sum, o[3]->sum);
  const __m128 scales = _mm_setr_ps(o[0]->scale, o[1]->scale, o[2]->scale, o[3]->scale);
  const __m128 bias = _mm_setr_ps(o[0]->bias, o[1]->bias, o[2]->bias, o[3]->bias);
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    const __m128 sum = _mm_cvtepi32_ps(SumsOfLanes(sums[r]));
    const __m128 scale = _mm_mul_ps(_mm_set1_ps(t.x_scales[r]), scales);
    const __m128 low = _mm_fmadd_ps(_mm_set1_ps(t.x_lows[r]), sums_of_weights, bias);
    _mm_storeu_ps(t.tile.y + r * t.tile.y_stride, _mm_fmadd_ps(sum, scale, low));
  }
}

void MultiplyRowsVnni(const GroupTask& task) {
  switch (task.tile.rows) {
    case 1:
      return MultiplyGroupVnni<1>(task);
    case 2:
      return MultiplyGroupVnni<2>(task);
    case 3:
      return MultiplyGroupVnni<3>(task);
    case 4:
      return MultiplyGroupVnni<4>(task);
    default:
      return MultiplyGroupVnni<kTallestTile>(task);
  }
}
#undef DRAGOMAN_VNNI
#endif  // HWY_ARCH_X86

using GroupKernel = void (*)(const GroupTask&);

#if HWY_ARCH_ARM_A64
HWY_EXPORT(MultiplyGroupByDot);
#endif

GroupKernel BestKernel() {
  switch (Int8ExtensionInUse()) {
#if HWY_ARCH_X86
    case Int8Extension::kVnni:
      return MultiplyRowsVnni;
#elif HWY_ARCH_ARM_A64
    case Int8Extension::kArmDot:
    case Int8Extension::kArmMatrix:
      return HWY_DYNAMIC_DISPATCH(MultiplyGroupByDot);
#endif
    default:
      return MultiplyGroupAnywhere;
  }
}

}  // namespace

Int8Rows::Int8Rows(int outputs, int inputs)
    : inputs_(inputs),
      stride_((inputs + kBlock - 1) / kBlock * kBlock),
      memory_(static_cast<size_t>(outputs) * stride_),
      constants_(outputs) {
  DRAGOMAN_CHECK(inputs <= Int8Gemm::kMaxInputs);
}

absl::Status Int8Rows::Set(int first, MatrixView<const float> weight, absl::Span<const float> bias,
                           float step) {
  DRAGOMAN_CHECK(first + weight.rows() <= outputs() && weight.cols() == inputs_);
  DRAGOMAN_CHECK(static_cast<int>(bias.size()) == weight.rows());
  for (int r = 0; r < weight.rows(); ++r) {
    int8_t* const values = weights(first + r);
    const float scale = QuantizeWeights(weight.Row(r), step, values);
    if (std::isnan(scale)) return absl::InvalidArgumentError("a weight is not a finite number");
    const int32_t sum = std::accumulate(values, values + inputs_, 0);
    constants_[first + r] = {scale, bias[r], scale * static_cast<float>(sum), sum};
  }
  return absl::OkStatus();
}

// A block is: the constants, zeros up to a cache line, the weights.
void Int8Rows::Store(const std::string& name, PackedFileWriter* file) const {
  static constexpr std::byte kZeros[kBlock] = {};
  const size_t constants = constants_.size() * sizeof(Output);
  file->Add(name, {BytesOf(absl::MakeConstSpan(constants_)),
                   absl::MakeConstSpan(kZeros, RoundUp(constants, kBlock) - constants),
                   absl::MakeConstSpan(memory_.data(), constants_.size() * stride_)});
}

std::optional<Int8Rows> Int8Rows::Restore(const std::shared_ptr<const PackedFile>& file,
                                          const std::string& name, int outputs, int inputs) {
  Int8Rows rows;
  rows.inputs_ = inputs;
  rows.stride_ = static_cast<int>(RoundUp(inputs, kBlock));
  rows.constants_.resize(outputs);
  const absl::Span<const std::byte> block = file->Find(name);
  const size_t constants = outputs * sizeof(Output), first = RoundUp(constants, kBlock);
  if (block.size() != first + size_t{1} * outputs * rows.stride_) return std::nullopt;
  std::memcpy(rows.constants_.data(), block.data(), constants);
  rows.memory_ = WeightMemory(file, block.data() + first);
  return rows;
}

void Int8Rows::AddWeights(int output, float factor, absl::Span<float> to) const {
  const int8_t* const from = weights(output);
  const float scale = factor * constants_[output].scale;
  for (size_t i = 0; i < to.size(); ++i) to[i] += scale * static_cast<float>(from[i]);
}

void Int8Rows::Apply(const QuantizedRows& x, absl::Span<const int32_t> outputs,
                     MatrixView<float> y) const {
  const int count = static_cast<int>(outputs.size());
  DRAGOMAN_CHECK(x.inputs == inputs_ && x.values.rows() == y.rows() && y.cols() == count);
  constexpr int kAhead = 4 * kGroup;  // outputs between prefetching one and using it
  const GroupKernel multiply = BestKernel();
  // Groups are panels whose weights are not contiguous, so the kernels prefetch for themselves.
  const PanelShape shape = {.width = kGroup, .bytes = 0, .lines = 1, .tallest_tile = kTallestTile};
  const int groups = (count + kGroup - 1) / kGroup;
  ForEachTile(shape, 0, groups, y, [&](const PanelTile& tile) {
    // An incomplete group repeats its last output.
    const auto named = [&](int j) { return outputs[std::min(tile.panel * kGroup + j, count - 1)]; };
    GroupTask task = {.x = x.values.Row(tile.row).data(),
                      .x_stride = x.values.cols(),
                      .x_scales = x.scales.data() + tile.row,
                      .x_lows = x.lows.data() + tile.row,
                      .inputs = x.values.cols(),
                      .tile = tile};
    for (int j = 0; j < kGroup; ++j) {
      task.weights[j] = weights(named(j));
      task.outputs[j] = &constants_[named(j)];
      task.prefetch[j] = weights(named(j + kAhead));
    }
    multiply(task);
  });
}

}  // namespace dragoman
#endif  // HWY_ONCE
