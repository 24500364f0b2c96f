// SDOT multiplies four pairs of signed bytes in each 32-bit lane and adds the products to the lane.
// Its second factor can be one lane of a vector, repeated: so a vector of 16 inputs of a row meets
// four vectors of weights, each with a quad of inputs of four outputs, as panels have them.
//
//   weights | w0 w1 w2 w3 | w0 w1 w2 w3 | w0 w1 w2 w3 | w0 w1 w2 w3 |    of outputs 0, 1, 2, 3
//   x       | x0 x1 x2 x3 |  ...                                         a lane, for all of them
//   sums    |   output 0  |   output 1  |   output 2  |   output 3  |
//
// Our inputs are unsigned.  With the upper bit flipped, x becomes x - 128 as a signed byte, and as
//
//   sum of x w  =  sum of (x - 128) w  +  128 * (sum of w)
//
// sums do not start at zero but at the last term, which is known when weights are packed.  What
// wraps around on the way wraps back.
//
// USMMLA multiplies two rows of eight unsigned inputs by the weights of two outputs: twice the
// products of an SDOT.  Two vectors of a panel, zipped, have eight inputs of an output side by
// side:
//
//   quad 0  | a0..a3 | b0..b3 | c0..c3 | d0..d3 |     | a0..a3  a4..a7 | b0..b3  b4..b7 |
//   quad 1  | a4..a7 | b4..b7 | c4..c7 | d4..d7 | ->  | c0..c3  c4..c7 | d0..d3  d4..d7 |

#include "engine/math/int8_arm.h"

#if HWY_ARCH_ARM_A64

#include <arm_neon.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cstring>

#define DRAGOMAN_DOT __attribute__((target("arch=armv8.2-a+dotprod")))
#define DRAGOMAN_MATRIX __attribute__((target("arch=armv8.2-a+dotprod+i8mm")))

namespace dragoman {
namespace {

constexpr int kPanel = kInt8Panel;
constexpr int kQuad = kInt8Quad;
constexpr int kLanes = 4;               // outputs of a vector of sums
constexpr int kStep = 16;               // inputs of a vector of x
constexpr int kQuads = kStep / kQuad;   // in it
constexpr int kLine = kPanel * kQuad;   // bytes of a panel's weights for a quad
constexpr int kInputs = 1024;           // of the rows that are prepared at once
constexpr int32_t kSignedOffset = 128;  // from a byte as it is to one with its upper bit flipped

// Up to kStep inputs, and zeros after them.
inline uint8x16_t LoadInputs(const uint8_t* x, int inputs) {
  if (inputs >= kStep) return vld1q_u8(x);
  uint8_t last[kStep] = {};
  std::memcpy(last, x, inputs);
  return vld1q_u8(last);
}

inline int8x16_t Signed(uint8x16_t x) {
  return vreinterpretq_s8_u8(veorq_u8(x, vdupq_n_u8(kSignedOffset)));
}

// A part of the inputs of a tile.
struct Part {
  const int8_t* weights;
  int inputs;  // kInputs at most
  const int8_t* prefetch;
};

// Prefetches what a step of kQuads iterations has to.
struct Prefetcher {
  const int8_t* at;
  int lines, stride;

  void Step() {
    for (int line = 0; line < kQuads * lines; ++line, at += stride) __builtin_prefetch(at);
  }
};

// Adds the products of a quad and a vector of outputs, j, to the sums of every row.  In assembly,
// because GCC 12 copies the sums back and forth around the intrinsic, and loads so many weights
// ahead that it has no registers left for sums.
template <int kQuadOfStep, int kRows, int kVectors>
DRAGOMAN_DOT inline __attribute__((always_inline)) void AddQuad(const int8_t* weights,
                                                                const int8x16_t (&x)[kRows], int j,
                                                                int32x4_t (&s)[kRows][kVectors]) {
  const int8x16_t w = vld1q_s8(weights + kQuadOfStep * kLine);
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    asm volatile("sdot %0.4s, %1.16b, %2.4b[%3]"
                 : "+w"(s[r][j])
                 : "w"(w), "w"(x[r]), "i"(kQuadOfStep));
  }
}

// Adds the products of a part to the sums of kRows rows and kVectors vectors of outputs, from
// output c on.
template <int kRows, int kVectors>
DRAGOMAN_DOT void AddDots(const int8_t (*x)[kInputs], const Part& part, int c, Prefetcher prefetch,
                          int32_t (*sums)[kPanel]) {
  int32x4_t s[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int j = 0; j < kVectors; ++j) s[r][j] = vld1q_s32(sums[r] + c + kLanes * j);
  }
  const int8_t* weights = part.weights + c * kQuad;
  for (int i = 0; i < part.inputs; i += kStep, weights += kQuads * kLine) {
    prefetch.Step();
    int8x16_t xs[kRows];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) xs[r] = vld1q_s8(x[r] + i);
#pragma GCC unroll 16
    for (int j = 0; j < kVectors; ++j) AddQuad<0>(weights + 16 * j, xs, j, s);
#pragma GCC unroll 16
    for (int j = 0; j < kVectors; ++j) AddQuad<1>(weights + 16 * j, xs, j, s);
#pragma GCC unroll 16
    for (int j = 0; j < kVectors; ++j) AddQuad<2>(weights + 16 * j, xs, j, s);
#pragma GCC unroll 16
    for (int j = 0; j < kVectors; ++j) AddQuad<3>(weights + 16 * j, xs, j, s);
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int j = 0; j < kVectors; ++j) vst1q_s32(sums[r] + c + kLanes * j, s[r][j]);
  }
}

// Calls add(part, lines) for the parts of the inputs.
template <typename Add>
inline void ForEachPart(const Int8Task& t, const Add& add) {
  for (int i = 0; i < t.inputs; i += kInputs) {
    const size_t fetched = size_t{1} * i / kQuad * t.tile.prefetch_lines * t.tile.prefetch_stride;
    add(i, Part{.weights = t.weights + static_cast<size_t>(i) * kPanel,
                .inputs = std::min(t.inputs - i, kInputs),
                .prefetch = t.weights + t.tile.prefetch + fetched});
  }
}

// The first columns prefetch for all.
inline Prefetcher PrefetcherFor(const Int8Task& t, const Part& part, int c) {
  return {part.prefetch, c == 0 ? t.tile.prefetch_lines : 0, t.tile.prefetch_stride};
}

template <int kRows>
DRAGOMAN_DOT void SumRowsByDot(const Int8Task& t, int32_t (*sums)[kPanel]) {
  if constexpr (kRows > 1) {
    if (t.tile.rows < kRows) return SumRowsByDot<kRows - 1>(t, sums);
  }
  // As many as there are registers for, with 32 of them.
  constexpr int kVectors = kRows == 1 ? 16 : kRows <= 3 ? 8 : 4;
  alignas(16) int8_t x[kRows][kInputs];
  for (int r = 0; r < kRows; ++r) {
    for (int o = 0; o < kPanel; ++o) sums[r][o] = kSignedOffset * t.totals[o];
  }
  ForEachPart(t, [&](int first, const Part& part) {
    for (int r = 0; r < kRows; ++r) {
      const uint8_t* const from = t.x + r * t.x_stride + first;
      for (int i = 0; i < part.inputs; i += kStep) {
        vst1q_s8(x[r] + i, Signed(LoadInputs(from + i, part.inputs - i)));
      }
    }
    for (int c = 0; c < kPanel; c += kVectors * kLanes) {
      AddDots<kRows, kVectors>(x, part, c, PrefetcherFor(t, part, c), sums);
    }
  });
}

// Two rows of x, eight inputs of one beside eight of the other.
using RowPairs = uint8_t[2 * kInputs];

DRAGOMAN_MATRIX inline __attribute__((always_inline)) void AddMatrix(uint8x16_t x, int8x16_t w,
                                                                     int32x4_t& sums) {
  asm volatile("usmmla %0.4s, %1.16b, %2.16b" : "+w"(sums) : "w"(x), "w"(w));
}

// The same for kPairs pairs of rows, of which the last one may be incomplete.
template <int kPairs, int kVectors>
DRAGOMAN_MATRIX void AddMatrices(const RowPairs* x, const Part& part, int c, Prefetcher prefetch,
                                 int32_t (*sums)[kPanel]) {
  // [pair][vector]: outputs 0 and 1, and outputs 2 and 3; in each, the sums of one row and those of
  // the other.
  int32x4_t low[kPairs][kVectors], high[kPairs][kVectors];
#pragma GCC unroll 4
  for (int p = 0; p < kPairs; ++p) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) low[p][j] = high[p][j] = vdupq_n_s32(0);
  }
  const int8_t* weights = part.weights + c * kQuad;
  for (int i = 0; i < part.inputs; i += kStep, weights += kQuads * kLine) {
    prefetch.Step();
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      uint8x16_t xs[kPairs];
#pragma GCC unroll 4
      for (int p = 0; p < kPairs; ++p) xs[p] = vld1q_u8(x[p] + 2 * i + 16 * half);
#pragma GCC unroll 8
      for (int j = 0; j < kVectors; ++j) {
        const int8_t* const w = weights + 2 * half * kLine + 16 * j;
        const int32x4_t quad0 = vreinterpretq_s32_s8(vld1q_s8(w));
        const int32x4_t quad1 = vreinterpretq_s32_s8(vld1q_s8(w + kLine));
        const int8x16_t ab = vreinterpretq_s8_s32(vzip1q_s32(quad0, quad1));
        const int8x16_t cd = vreinterpretq_s8_s32(vzip2q_s32(quad0, quad1));
#pragma GCC unroll 4
        for (int p = 0; p < kPairs; ++p) {
          AddMatrix(xs[p], ab, low[p][j]);
          AddMatrix(xs[p], cd, high[p][j]);
        }
      }
    }
  }
#pragma GCC unroll 4
  for (int p = 0; p < kPairs; ++p) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      const int32x4_t l = low[p][j], h = high[p][j];
      int32_t* const first = sums[2 * p] + c + kLanes * j;
      int32_t* const second = sums[2 * p + 1] + c + kLanes * j;
      vst1q_s32(first, vaddq_s32(vld1q_s32(first), vcombine_s32(vget_low_s32(l), vget_low_s32(h))));
      vst1q_s32(second,
                vaddq_s32(vld1q_s32(second), vcombine_s32(vget_high_s32(l), vget_high_s32(h))));
    }
  }
}

template <int kPairs>
DRAGOMAN_MATRIX void SumPairs(const Int8Task& t, int32_t (*sums)[kPanel]) {
  constexpr int kVectors = kPairs == 1 ? 8 : 4;
  alignas(16) RowPairs x[kPairs];
  int32_t both[2 * kPairs][kPanel] = {};  // with room for a second row in the last pair
  ForEachPart(t, [&](int first, const Part& part) {
    for (int p = 0; p < kPairs; ++p) {
      const uint8_t* const even = t.x + 2 * p * t.x_stride + first;
      // A row without another is paired with itself.
      const uint8_t* const odd = 2 * p + 1 < t.tile.rows ? even + t.x_stride : even;
      for (int i = 0; i < part.inputs; i += kStep) {
        const uint64x2_t a = vreinterpretq_u64_u8(LoadInputs(even + i, part.inputs - i));
        const uint64x2_t b = vreinterpretq_u64_u8(LoadInputs(odd + i, part.inputs - i));
        vst1q_u8(x[p] + 2 * i, vreinterpretq_u8_u64(vzip1q_u64(a, b)));
        vst1q_u8(x[p] + 2 * i + 16, vreinterpretq_u8_u64(vzip2q_u64(a, b)));
      }
    }
    for (int c = 0; c < kPanel; c += kVectors * kLanes) {
      AddMatrices<kPairs, kVectors>(x, part, c, PrefetcherFor(t, part, c), both);
    }
  });
  std::memcpy(sums, both, t.tile.rows * sizeof(*sums));
}

}  // namespace

static_assert(kInt8TallestTile == 6);  // rows, and three pairs of them

void SumTileByDot(const Int8Task& task, int32_t (*sums)[kPanel]) {
  SumRowsByDot<kInt8TallestTile>(task, sums);
}

void SumTileByMatrix(const Int8Task& task, int32_t (*sums)[kPanel]) {
  switch ((task.tile.rows + 1) / 2) {
    case 1:
      return task.tile.rows == 1 ? SumRowsByDot<1>(task, sums) : SumPairs<1>(task, sums);
    case 2:
      return SumPairs<2>(task, sums);
    default:
      return SumPairs<3>(task, sums);
  }
}

DRAGOMAN_DOT void SumDots(const ArmDots& t, int32_t (*sums)[ArmDots::kOutputs]) {
  constexpr int kOutputs = ArmDots::kOutputs;
  for (int r = 0; r < t.rows; ++r) {
    const uint8_t* const x = t.x + r * t.x_stride;
    int32x4_t s[kOutputs] = {};
    for (int i = 0; i < t.inputs; i += kStep) {
      const int8x16_t xs = Signed(LoadInputs(x + i, t.inputs - i));
#pragma GCC unroll 4
      for (int o = 0; o < kOutputs; ++o) s[o] = vdotq_s32(s[o], xs, vld1q_s8(t.weights[o] + i));
    }
    const int32x4_t all = vpaddq_s32(vpaddq_s32(s[0], s[1]), vpaddq_s32(s[2], s[3]));
    vst1q_s32(sums[r], vmlaq_n_s32(all, vld1q_s32(t.totals), kSignedOffset));
  }
}

Int8Extension DetectArmExtension() {
  const bool dot = (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
  const bool matrix = (getauxval(AT_HWCAP2) & HWCAP2_I8MM) != 0;
  return !dot ? Int8Extension::kNone : matrix ? Int8Extension::kArmMatrix : Int8Extension::kArmDot;
}

}  // namespace dragoman

#endif  // HWY_ARCH_ARM_A64
