// A panel holds the weights of 64 outputs, four inputs of each output side by side, because one
// VNNI instruction multiplies four u8 by four s8 and adds the products to a 32-bit sum, for 16
// outputs at a time:
//
//   x       | x0 x1 x2 x3 | x0 x1 x2 x3 | ...      a quad of a row, repeated in every lane
//   weights | w0 w1 w2 w3 | w0 w1 w2 w3 | ...      of output 0, of output 1, ...
//   sums    |   output 0  |   output 1  | ...      += x0 w0 + x1 w1 + x2 w2 + x3 w3
//
// The other instruction sets walk the same panels with other instructions and get the same
// integers.

#include "engine/math/int8_kernels.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

#include "engine/math/int8_arm.h"
#include "engine/math/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/math/int8_kernels.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every instruction set
// Highway's headers come after foreach_target.
#include "hwy/highway.h"

#if HWY_ONCE && HWY_ARCH_X86
#include <immintrin.h>
#endif

#ifndef DRAGOMAN_INT8_NAMES_
#define DRAGOMAN_INT8_NAMES_
namespace dragoman {

constexpr int kPanel = kInt8Panel;
constexpr int kQuad = kInt8Quad;

}  // namespace dragoman
#endif  // DRAGOMAN_INT8_NAMES_

HWY_BEFORE_NAMESPACE();
namespace dragoman {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE

void SumTile(const Int8Task& t, int32_t (*sums)[kPanel]) {
  for (int r = 0; r < t.tile.rows; ++r) {
    const uint8_t* const x = t.x + r * t.x_stride;
    for (int c = 0; c < kPanel; ++c) {
      sums[r][c] = 0;
      for (int i = 0; i < t.inputs; ++i) {
        sums[r][c] += x[i] * t.weights[i / kQuad * (kPanel * kQuad) + c * kQuad + i % kQuad];
      }
    }
  }
}

#else

// Without VNNI: bytes are widened to 16 bits, and their products summed in pairs to 32 bits.  So a
// quad of inputs makes two sums of each output, which are added in the end.
//
//   x       | x0 x1 x2 x3 | x0 x1 x2 x3 | ...
//   weights | w0 w1 w2 w3 | w0 w1 w2 w3 | ...             of output 0, of output 1, ...
//   sums    | x0 w0 + x1 w1 | x2 w2 + x3 w3 | ...
//
// kVectors vectors of outputs, from output c on, for all rows of the tile, are summed in registers.
// `x` has inputs of the rows, widened; there are kInputs or fewer.
constexpr int kInputs = 1024;

template <int kRows, int kVectors>
void SumColumns(const int16_t (*x)[kInputs], const int8_t* weights, int inputs, int c,
                const int8_t* prefetch, int prefetch_lines, int prefetch_stride,
                int32_t (*sums)[kPanel]) {
  const hn::ScalableTag<int16_t> d16;
  const hn::ScalableTag<int32_t> d32;
  const hn::ScalableTag<int64_t> d64;
  const hn::Rebind<int8_t, decltype(d16)> d8;
  constexpr int kColumns = hn::MaxLanes(d64);  // of a vector
  hn::Vec<decltype(d32)> sum0[kRows][kVectors], sum1[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) sum0[r][j] = sum1[r][j] = hn::Zero(d32);
  }
  weights += c * kQuad;
  for (int i = 0; i < inputs; i += kQuad, weights += kPanel * kQuad) {
    for (int line = 0; line < prefetch_lines; ++line, prefetch += prefetch_stride) {
      __builtin_prefetch(prefetch);
    }
    hn::Vec<decltype(d16)> w[kVectors];
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      w[j] = hn::PromoteTo(d16, hn::LoadU(d8, weights + j * kColumns * kQuad));
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      asm("" ::: "memory");  // GCC would load all rows first, and run out of registers
      int64_t quad;
      std::memcpy(&quad, x[r] + i, sizeof(quad));
      const auto xs = hn::BitCast(d16, hn::Set(d64, quad));
#pragma GCC unroll 8
      for (int j = 0; j < kVectors; ++j) {
        sum0[r][j] = hn::ReorderWidenMulAccumulate(d32, xs, w[j], sum0[r][j], sum1[r][j]);
#if HWY_ARCH_X86
        asm("" : "+v"(sum0[r][j].raw));
#endif
      }
    }
  }
  HWY_ALIGN int32_t pairs[hn::MaxLanes(d32)];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      hn::Store(hn::RearrangeToOddPlusEven(sum0[r][j], sum1[r][j]), d32, pairs);
      int32_t* const to = sums[r] + c + j * kColumns;
      for (int k = 0; k < kColumns; ++k) to[k] += pairs[2 * k] + pairs[2 * k + 1];
    }
  }
}

template <int kRows>
void SumRows(const Int8Task& t, int32_t (*sums)[kPanel]) {
  if constexpr (kRows > 1) {
    if (t.tile.rows < kRows) return SumRows<kRows - 1>(t, sums);
  }
  const hn::ScalableTag<int16_t> d16;
  const hn::Rebind<uint8_t, decltype(d16)> du8;
  constexpr int kLanes = hn::MaxLanes(d16), kColumns = kLanes / kQuad;
  // As many as there are registers for, with 16 of them.
  constexpr int kVectors = kRows == 1 ? 8 : kRows <= 3 ? 4 : 2;
  HWY_ALIGN int16_t x[kRows][kInputs];
  for (int i = 0; i < t.inputs; i += kInputs) {
    const int inputs = std::min(t.inputs - i, kInputs);
    for (int r = 0; r < kRows; ++r) {
      const uint8_t* const from = t.x + r * t.x_stride + i;
      for (int k = 0; k < inputs; k += kLanes) {
        hn::Store(hn::PromoteTo(d16, hn::LoadU(du8, from + k)), d16, x[r] + k);
      }
    }
    const int8_t* const weights = t.weights + i * kPanel;
    const int8_t* const prefetch =
        t.weights + t.tile.prefetch + i / kQuad * t.tile.prefetch_lines * t.tile.prefetch_stride;
    for (int c = 0; c < kPanel; c += kVectors * kColumns) {
      SumColumns<kRows, kVectors>(x, weights, inputs, c, prefetch,
                                  c == 0 ? t.tile.prefetch_lines : 0, t.tile.prefetch_stride, sums);
    }
  }
}

void SumTile(const Int8Task& t, int32_t (*sums)[kPanel]) {
  std::fill_n(sums[0], t.tile.rows * kPanel, 0);
  SumRows<kInt8TallestTile>(t, sums);
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

// With sums from sum_tile(task, sums).
template <typename SumTileFunction>
HWY_INLINE void MultiplyTileBy(const SumTileFunction& sum_tile, const Int8Task& t) {
  HWY_ALIGN int32_t sums[kInt8TallestTile][kPanel];
  sum_tile(t, sums);
  for (int r = 0; r < t.tile.rows; ++r) {
    FinishSums({.sums = sums[r],
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

// For any instruction set.
void MultiplyTile(const Int8Task& t) { MultiplyTileBy(SumTile, t); }

#if HWY_ARCH_ARM_A64
void MultiplyByDot(const Int8Task& t) { MultiplyTileBy(SumTileByDot, t); }
void MultiplyByMatrix(const Int8Task& t) { MultiplyTileBy(SumTileByMatrix, t); }
#endif

bool HasAvx512() { return HWY_ARCH_X86 && HWY_MAX_BYTES == 64; }

}  // namespace HWY_NAMESPACE
}  // namespace dragoman
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman {
namespace {

// What tests allow.
std::atomic<Int8Extension> best_allowed = Int8Extension::kArmMatrix;

HWY_EXPORT(FinishSums);
HWY_EXPORT(HasAvx512);
HWY_EXPORT(MultiplyTile);

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
      _mm_prefetch(prefetch, kLines == kInt8LinesPerQuad ? _MM_HINT_T0 : _MM_HINT_T1);
    }
    // From the second level cache to the first: up to a fifth faster, and never slower, on the CPUs
    // that were measured (tests/bench/README.md).
    if constexpr (kLines < 2) {
#pragma GCC unroll 4
      for (int line = 0; line < kInt8LinesPerQuad; ++line) {
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
      return MultiplyTileVnni<kRows, kInt8LinesPerQuad>(task);
  }
}

void MultiplyVnni(const Int8Task& task) { MultiplyRowsVnni<kInt8TallestTile>(task); }
#undef DRAGOMAN_VNNI
#endif  // HWY_ARCH_X86

#if HWY_ARCH_ARM_A64
HWY_EXPORT(MultiplyByDot);
HWY_EXPORT(MultiplyByMatrix);
#endif

// The best extension of this CPU.
Int8Extension Detect() {
#if HWY_ARCH_X86
  static const bool has = __builtin_cpu_supports("avx512vnni") &&
                          __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  return has && HWY_DYNAMIC_DISPATCH(HasAvx512)() ? Int8Extension::kVnni : Int8Extension::kNone;
#elif HWY_ARCH_ARM_A64
  static const Int8Extension best = DetectArmExtension();
  return best;
#else
  return Int8Extension::kNone;
#endif
}

}  // namespace

Int8Kernel BestInt8Kernel() {
  switch (Int8ExtensionInUse()) {
#if HWY_ARCH_X86
    case Int8Extension::kVnni:
      return MultiplyVnni;
#elif HWY_ARCH_ARM_A64
    case Int8Extension::kArmDot:
      return HWY_DYNAMIC_DISPATCH(MultiplyByDot);
    case Int8Extension::kArmMatrix:
      return HWY_DYNAMIC_DISPATCH(MultiplyByMatrix);
#endif
    default:
      return MultiplyAnywhere;
  }
}

Int8Extension Int8ExtensionInUse() { return std::min(Detect(), best_allowed.load()); }

std::vector<Int8Extension> Int8Extensions() {
  switch (Detect()) {
    case Int8Extension::kNone:
      return {Int8Extension::kNone};
    case Int8Extension::kArmMatrix:
      return {Int8Extension::kNone, Int8Extension::kArmDot, Int8Extension::kArmMatrix};
    default:
      return {Int8Extension::kNone, Detect()};
  }
}

void LimitInt8ExtensionForTest(Int8Extension best) { best_allowed = best; }

void UnlimitInt8ExtensionForTest() { best_allowed = Int8Extension::kArmMatrix; }

void FinishInt8Sums(const Int8Sums& sums) { HWY_DYNAMIC_DISPATCH(FinishSums)(sums); }

std::string Int8Isa() {
  switch (Int8ExtensionInUse()) {
    case Int8Extension::kVnni:
      return "avx512_vnni";
    case Int8Extension::kArmDot:
      return "neon_dotprod";
    case Int8Extension::kArmMatrix:
      return "neon_i8mm";
    default:
      return HighwayIsa();
  }
}

}  // namespace dragoman
#endif  // HWY_ONCE
