#include "engine/math/bfloat16_gemm.h"

#include <algorithm>
#include <cstring>

#include "engine/math/kernels.h"
#include "hwy/detect_compiler_arch.h"

#if HWY_ARCH_ARM_A64
#include <arm_neon.h>
#include <sys/auxv.h>
#endif

namespace dragoman {
namespace {

constexpr int kWidth = 64;                    // outputs of a panel
constexpr int kFour = 4;                      // adjacent inputs
constexpr int kFourWeights = kWidth * kFour;  // of a panel's outputs

// One tile of the product.
struct Task {
  MatrixView<const BFloat16> x;  // its rows
  const BFloat16* weights;       // of the panel
  const float* bias;             // [kWidth]
  bool relu;
  const PanelTile& tile;
};

#if HWY_ARCH_ARM_A64
#define DRAGOMAN_BFLOAT16 __attribute__((target("arch=armv8.2-a+bf16")))

constexpr int kInputs = 1024;  // of the rows that are prepared at once
// The outputs whose sums are in registers at once.
template <int kPairs>
constexpr int kTogether = kPairs == 1 ? 32 : 16;

// Four inputs of a row beside four of another.
using RowPair = uint16_t[2 * kInputs];
// The sums of two rows and two outputs.
using Sums = float[kFour];

// Up to four inputs of a row, and zeros after them.
inline uint16x4_t LoadInputs(const BFloat16* x, int inputs) {
  uint16_t four[kFour] = {};
  std::memcpy(four, x, std::min(inputs, kFour) * sizeof(*x));
  return vld1_u16(four);
}

// In assembly, because GCC 12 copies sums around the intrinsic.
DRAGOMAN_BFLOAT16 inline __attribute__((always_inline)) void AddMatrix(uint16x8_t x, uint16x8_t w,
                                                                       float32x4_t& sums) {
  asm volatile("bfmmla %0.4s, %1.8h, %2.8h" : "+w"(sums) : "w"(x), "w"(w));
}

// Adds the products of some inputs to the sums of kTogether outputs, from output o on.
template <int kPairs>
DRAGOMAN_BFLOAT16 void AddMatrices(const RowPair* x, const BFloat16* weights, int inputs, int o,
                                   Sums (*sums)[kWidth / 2]) {
  constexpr int kVectors = kTogether<kPairs> / 2;
  float32x4_t s[kPairs][kVectors];
#pragma GCC unroll 3
  for (int p = 0; p < kPairs; ++p) {
#pragma GCC unroll 16
    for (int j = 0; j < kVectors; ++j) s[p][j] = vld1q_f32(sums[p][o / 2 + j]);
  }
  const auto* w = reinterpret_cast<const uint16_t*>(weights + o * kFour);
  for (int i = 0; i < inputs; i += kFour, w += kFourWeights) {
    uint16x8_t xs[kPairs];
#pragma GCC unroll 3
    for (int p = 0; p < kPairs; ++p) xs[p] = vld1q_u16(x[p] + 2 * i);
#pragma GCC unroll 16
    for (int j = 0; j < kVectors; ++j) {
      const uint16x8_t both = vld1q_u16(w + 2 * kFour * j);
#pragma GCC unroll 3
      for (int p = 0; p < kPairs; ++p) AddMatrix(xs[p], both, s[p][j]);
    }
  }
#pragma GCC unroll 3
  for (int p = 0; p < kPairs; ++p) {
#pragma GCC unroll 16
    for (int j = 0; j < kVectors; ++j) vst1q_f32(sums[p][o / 2 + j], s[p][j]);
  }
}

template <int kPairs>
void MultiplyPairs(const Task& t) {
  Sums sums[kPairs][kWidth / 2] = {};
  alignas(16) RowPair x[kPairs];
  for (int first = 0; first < t.x.cols(); first += kInputs) {
    const int inputs = std::min(t.x.cols() - first, kInputs);
    for (int p = 0; p < kPairs; ++p) {
      const BFloat16* const even = t.x.Row(2 * p).data() + first;
      // A row without another is paired with itself.
      const BFloat16* const odd = t.x.Row(std::min(2 * p + 1, t.x.rows() - 1)).data() + first;
      for (int i = 0; i < inputs; i += kFour) {
        vst1_u16(x[p] + 2 * i, LoadInputs(even + i, inputs - i));
        vst1_u16(x[p] + 2 * i + kFour, LoadInputs(odd + i, inputs - i));
      }
    }
    for (int o = 0; o < kWidth; o += kTogether<kPairs>) {
      AddMatrices<kPairs>(x, t.weights + size_t{1} * first * kWidth, inputs, o, sums);
    }
  }
  for (int r = 0; r < t.x.rows(); ++r) {
    float* const y = t.tile.y + r * t.tile.y_stride;
    for (int o = 0; o < kWidth; ++o) {
      const float sum = sums[r / 2][o / 2][r % 2 * 2 + o % 2] + t.bias[o];
      y[o] = t.relu && sum < 0.0f ? 0.0f : sum;  // NaN passes through
    }
  }
}

void Multiply(const Task& t) {
  switch ((t.x.rows() + 1) / 2) {
    case 1:
      return MultiplyPairs<1>(t);
    case 2:
      return MultiplyPairs<2>(t);
    default:
      return MultiplyPairs<3>(t);
  }
}

#else

void Multiply(const Task&) { DRAGOMAN_CHECK(false && "a CPU without BFMMLA"); }

#endif  // HWY_ARCH_ARM_A64

}  // namespace

bool BFloat16Gemm::Possible() {
#if HWY_ARCH_ARM_A64
  return (getauxval(AT_HWCAP2) & HWCAP2_BF16) != 0;
#else
  return false;
#endif
}

BFloat16Gemm::BFloat16Gemm(MatrixView<const float> weight, absl::Span<const float> bias,
                           Activation activation)
    : PanelGemm(weight.cols(), weight.rows(), bias, activation,
                {.width = kWidth, .bytes = 0, .lines = 1, .tallest_tile = 6}) {  // three pairs
  panels_ = WeightMemory(size_t{1} * panels() * ((inputs_ + kFour - 1) / kFour) * kFourWeights *
                         sizeof(BFloat16));
  Matrix<BFloat16> row(1, inputs_);
  for (int o = 0; o < outputs_; ++o) {
    ToBFloat16(weight.Rows(o, 1), row.view());
    BFloat16* const to = weights(o);
    for (int i = 0; i < inputs_; ++i) to[i / kFour * kFourWeights + i % kFour] = row.Row(0)[i];
  }
}

BFloat16* BFloat16Gemm::weights(int output) const {
  const size_t panel = size_t{1} * ((inputs_ + kFour - 1) / kFour) * kFourWeights;
  return reinterpret_cast<BFloat16*>(panels_.data()) + output / kWidth * panel +
         output % kWidth * kFour;
}

void BFloat16Gemm::AddWeights(int output, float factor, absl::Span<float> to) const {
  const BFloat16* const from = weights(output);
  for (size_t i = 0; i < to.size(); ++i) {
    to[i] += factor * ToFloat(from[i / kFour * kFourWeights + i % kFour]);
  }
}

void BFloat16Gemm::Apply(MatrixView<const BFloat16> x, int first_panel, int end_panel,
                         MatrixView<float> y) const {
  DRAGOMAN_CHECK(x.cols() == inputs_ && y.cols() == outputs_ && x.rows() == y.rows());
  Compute(first_panel, end_panel, y, [&](const PanelTile& tile) {
    Multiply({.x = x.Rows(tile.row, tile.rows),
              .weights = weights(tile.panel * kWidth),
              .bias = bias_.data() + tile.panel * kWidth,
              .relu = activation_ == Activation::kRelu,
              .tile = tile});
  });
}

}  // namespace dragoman
