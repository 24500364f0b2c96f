#include "engine/math/kernels.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/ascii.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/math/kernels.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every instruction set
// Highway's headers come after foreach_target.
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// out = x + y; returns the sum of its elements.
float AddRow(const float* x, const float* y, int n, float* out) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  V sums = hn::Zero(d);
  int i = 0;
  for (; i + lanes <= n; i += lanes) {
    const V v = hn::Add(hn::LoadU(d, x + i), hn::LoadU(d, y + i));
    hn::StoreU(v, d, out + i);
    sums = hn::Add(sums, v);
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (; i < n; ++i) {
    out[i] = x[i] + y[i];
    sum += out[i];
  }
  return sum;
}

float SumOf(const float* x, int n) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  V sums = hn::Zero(d);
  int i = 0;
  for (; i + lanes <= n; i += lanes) sums = hn::Add(sums, hn::LoadU(d, x + i));
  float sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (; i < n; ++i) sum += x[i];
  return sum;
}

// LayerNorm of a row whose elements add up to `sum`.
void LayerNormRow(const float* x, float sum, const float* gain, const float* bias, float epsilon,
                  int n, float* out) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const float mean = sum / static_cast<float>(n);
  const V means = hn::Set(d, mean);
  V squares = hn::Zero(d);
  int i = 0;
  for (; i + lanes <= n; i += lanes) {
    const V v = hn::Sub(hn::LoadU(d, x + i), means);
    squares = hn::MulAdd(v, v, squares);
  }
  float variance = hn::GetLane(hn::SumOfLanes(d, squares));
  for (; i < n; ++i) variance += (x[i] - mean) * (x[i] - mean);
  const float scale = 1.0f / std::sqrt(variance / static_cast<float>(n) + epsilon);

  const V scales = hn::Set(d, scale);
  for (i = 0; i + lanes <= n; i += lanes) {
    const V v = hn::Mul(hn::Sub(hn::LoadU(d, x + i), means), scales);
    hn::StoreU(hn::MulAdd(v, hn::LoadU(d, gain + i), hn::LoadU(d, bias + i)), d, out + i);
  }
  for (; i < n; ++i) out[i] = (x[i] - mean) * scale * gain[i] + bias[i];
}

void AddAndNorm(MatrixView<const float> x, MatrixView<const float> y, absl::Span<const float> gain,
                absl::Span<const float> bias, float epsilon, MatrixView<float> out) {
  for (int r = 0; r < x.rows(); ++r) {
    float* const row = out.Row(r).data();
    const float sum = AddRow(x.Row(r).data(), y.Row(r).data(), x.cols(), row);
    LayerNormRow(row, sum, gain.data(), bias.data(), epsilon, x.cols(), row);
  }
}

void LayerNorm(MatrixView<const float> x, absl::Span<const float> gain,
               absl::Span<const float> bias, float epsilon, MatrixView<float> out) {
  for (int r = 0; r < x.rows(); ++r) {
    const float* const row = x.Row(r).data();
    LayerNormRow(row, SumOf(row, x.cols()), gain.data(), bias.data(), epsilon, x.cols(),
                 out.Row(r).data());
  }
}

void RootMeanSquareNormRow(const float* x, const float* gain, float epsilon, int n, float* out) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  V squares = hn::Zero(d);
  int i = 0;
  for (; i + lanes <= n; i += lanes) {
    const V v = hn::LoadU(d, x + i);
    squares = hn::MulAdd(v, v, squares);
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, squares));
  for (; i < n; ++i) sum += x[i] * x[i];
  const float scale = 1.0f / std::sqrt(sum / static_cast<float>(n) + epsilon);
  const V scales = hn::Set(d, scale);
  for (i = 0; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::Mul(hn::Mul(hn::LoadU(d, x + i), scales), hn::LoadU(d, gain + i)), d, out + i);
  }
  for (; i < n; ++i) out[i] = x[i] * scale * gain[i];
}

void RootMeanSquareNorm(MatrixView<const float> x, absl::Span<const float> gain, float epsilon,
                        MatrixView<float> out) {
  for (int r = 0; r < x.rows(); ++r) {
    RootMeanSquareNormRow(x.Row(r).data(), gain.data(), epsilon, x.cols(), out.Row(r).data());
  }
}

void Add(MatrixView<const float> y, MatrixView<float> x) {
  for (int r = 0; r < x.rows(); ++r) {
    AddRow(x.Row(r).data(), y.Row(r).data(), x.cols(), x.Row(r).data());
  }
}

float MaxOf(const float* x, int n) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  float max = -std::numeric_limits<float>::infinity();
  // Four maxima, so that a comparison need not wait for the one before it.
  V m0 = hn::Set(d, max), m1 = m0, m2 = m0, m3 = m0;
  const auto larger = [&](V a, const float* p) {
    const V b = hn::LoadU(d, p);
    return hn::IfThenElse(hn::Gt(b, a), b, a);  // ignores NaN
  };
  int i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    m0 = larger(m0, x + i);
    m1 = larger(m1, x + i + lanes);
    m2 = larger(m2, x + i + 2 * lanes);
    m3 = larger(m3, x + i + 3 * lanes);
  }
  if (i > 0) max = hn::GetLane(hn::MaxOfLanes(d, hn::Max(hn::Max(m0, m1), hn::Max(m2, m3))));
  for (; i < n; ++i) max = x[i] > max ? x[i] : max;
  return max;
}

// exp(x) = 2^n 2^f with an integer n and f in [-1/2, 1/2], where a polynomial fitted to 2^f by
// least squares (reweighted until the errors were even) has a relative error below 2.2e-7.
// REQUIRES: -87 <= x <= 87.
HWY_INLINE V Exp(V x) {
  const D d;
  const hn::RebindToSigned<D> di;
  const V t = hn::Mul(x, hn::Set(d, 1.44269504f));
  const V n = hn::Round(t);
  const V f = hn::Sub(t, n);
  V p = hn::Set(d, 0.0013276472f);
  for (const float c : {0.0096755410f, 0.055507131f, 0.24022120f, 0.69314694f, 1.0000001f}) {
    p = hn::MulAdd(p, f, hn::Set(d, c));
  }
  const auto exponent = hn::ShiftLeft<23>(hn::ConvertTo(di, n));
  return hn::BitCast(d, hn::Add(hn::BitCast(di, p), exponent));
}

float SumExp(const float* x, int n, float max) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  constexpr float kFloor = -87.0f;  // its exp is negligible beside exp(0), but not denormal
  const V maxima = hn::Set(d, max), floors = hn::Set(d, kFloor);
  V sums = hn::Zero(d);
  int i = 0;
  for (; i + lanes <= n; i += lanes) {
    const V below = hn::Sub(hn::LoadU(d, x + i), maxima);
    const auto counts = hn::Gt(below, floors);  // neither NaN nor far below
    sums = hn::Add(sums, hn::IfThenElseZero(counts, Exp(hn::IfThenElse(counts, below, floors))));
  }
  float sum = i > 0 ? hn::GetLane(hn::SumOfLanes(d, sums)) : 0.0f;
  for (; i < n; ++i) {
    if (x[i] - max > kFloor) sum += std::exp(x[i] - max);
  }
  return sum;
}

int IndicesAbove(const float* x, int n, float threshold, int32_t* indices) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const V thresholds = hn::Set(d, threshold);
  int count = 0;
  int i = 0;
  for (; i + lanes <= n; i += lanes) {
    if (hn::AllFalse(d, hn::Gt(hn::LoadU(d, x + i), thresholds))) continue;
    for (int lane = i; lane < i + lanes; ++lane) {
      if (x[lane] > threshold) indices[count++] = lane;
    }
  }
  for (; i < n; ++i) {
    if (x[i] > threshold) indices[count++] = i;
  }
  return count;
}

void ToBFloat16Row(const float* x, int n, BFloat16* out) {
  const hn::ScalableTag<uint32_t> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<float, decltype(d)> df;
  const hn::Rebind<uint16_t, decltype(d)> d16;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto half = hn::Set(d, 0x7FFFu);
  const auto one = hn::Set(d, 1u);
  const auto quiet = hn::Set(d, 0x7FC0u);
  int i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto value = hn::LoadU(df, x + i);
    const auto bits = hn::BitCast(d, value);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), one);
    auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(half, odd)));
    rounded = hn::IfThenElse(hn::RebindMask(d, hn::IsNaN(value)), quiet, rounded);
    hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di, rounded)), d16,
               reinterpret_cast<uint16_t*>(out + i));
  }
  for (; i < n; ++i) {
    uint32_t bits;
    std::memcpy(&bits, x + i, sizeof(bits));
    const bool nan = x[i] != x[i];
    out[i].bits =
        nan ? 0x7FC0u : static_cast<uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
  }
}

const char* NameOfTarget() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace dragoman
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman {

HWY_EXPORT(Add);
HWY_EXPORT(AddAndNorm);
HWY_EXPORT(IndicesAbove);
HWY_EXPORT(LayerNorm);
HWY_EXPORT(MaxOf);
HWY_EXPORT(NameOfTarget);
HWY_EXPORT(RootMeanSquareNorm);
HWY_EXPORT(SumExp);
HWY_EXPORT(ToBFloat16Row);

void AddAndNorm(MatrixView<const float> x, MatrixView<const float> y, absl::Span<const float> gain,
                absl::Span<const float> bias, float epsilon, MatrixView<float> out) {
  DRAGOMAN_CHECK(x.rows() == y.rows() && x.cols() == y.cols());
  DRAGOMAN_CHECK(x.rows() == out.rows() && x.cols() == out.cols());
  DRAGOMAN_CHECK(static_cast<int>(gain.size()) == x.cols() && bias.size() == gain.size());
  HWY_DYNAMIC_DISPATCH(AddAndNorm)(x, y, gain, bias, epsilon, out);
}

void LayerNorm(MatrixView<const float> x, absl::Span<const float> gain,
               absl::Span<const float> bias, float epsilon, MatrixView<float> out) {
  DRAGOMAN_CHECK(x.rows() == out.rows() && x.cols() == out.cols());
  DRAGOMAN_CHECK(static_cast<int>(gain.size()) == x.cols() && bias.size() == gain.size());
  HWY_DYNAMIC_DISPATCH(LayerNorm)(x, gain, bias, epsilon, out);
}

void RootMeanSquareNorm(MatrixView<const float> x, absl::Span<const float> gain, float epsilon,
                        MatrixView<float> out) {
  DRAGOMAN_CHECK(x.rows() == out.rows() && x.cols() == out.cols());
  DRAGOMAN_CHECK(static_cast<int>(gain.size()) == x.cols());
  HWY_DYNAMIC_DISPATCH(RootMeanSquareNorm)(x, gain, epsilon, out);
}

void Add(MatrixView<const float> y, MatrixView<float> x) {
  DRAGOMAN_CHECK(x.rows() == y.rows() && x.cols() == y.cols());
  HWY_DYNAMIC_DISPATCH(Add)(y, x);
}

float MaxOf(absl::Span<const float> x) {
  return HWY_DYNAMIC_DISPATCH(MaxOf)(x.data(), static_cast<int>(x.size()));
}

float SumExp(absl::Span<const float> x, float max) {
  return HWY_DYNAMIC_DISPATCH(SumExp)(x.data(), static_cast<int>(x.size()), max);
}

int IndicesAbove(absl::Span<const float> x, float threshold, int32_t* indices) {
  return HWY_DYNAMIC_DISPATCH(IndicesAbove)(x.data(), static_cast<int>(x.size()), threshold,
                                            indices);
}

void ToBFloat16(MatrixView<const float> x, MatrixView<BFloat16> out) {
  DRAGOMAN_CHECK(x.rows() == out.rows() && x.cols() == out.cols());
  for (int r = 0; r < x.rows(); ++r) {
    HWY_DYNAMIC_DISPATCH(ToBFloat16Row)(x.Row(r).data(), x.cols(), out.Row(r).data());
  }
}

std::string HighwayIsa() { return absl::AsciiStrToLower(HWY_DYNAMIC_DISPATCH(NameOfTarget)()); }

int64_t CompiledTargets() { return HWY_TARGETS; }

}  // namespace dragoman
#endif  // HWY_ONCE
