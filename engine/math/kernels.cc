#include "engine/math/kernels.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/ascii.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/math/kernels.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every instruction set
// Highway's headers come after foreach_target.
#include "engine/math/row_sums-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman {
namespace HWY_NAMESPACE {

// out = x + y; returns the sum of its elements.
float AddRow(const float* x, const float* y, int n, float* out) {
  return SumRow(n, [=](V sum, int i) HWY_ATTR {
    const V v = hn::Add(Load(x, i, n), Load(y, i, n));
    Store(v, out, i, n);
    return hn::Add(sum, v);
  });
}

float SumOf(const float* x, int n) {
  return SumRow(n, [=](V sum, int i) HWY_ATTR { return hn::Add(sum, Load(x, i, n)); });
}

// LayerNorm of a row whose elements add up to `sum`.
void LayerNormRow(const float* x, float sum, const float* gain, const float* bias, float epsilon,
                  int n, float* out) {
  const D d;
  const float mean = sum / static_cast<float>(n);
  const V means = hn::Set(d, mean);
  const float variance = SumRow(n, [=](V squares, int i) HWY_ATTR {
    const V v = hn::Sub(Load(x, i, n, /*filler=*/mean), means);
    return hn::MulAdd(v, v, squares);
  });
  const float scale = 1.0f / std::sqrt(variance / static_cast<float>(n) + epsilon);
  const V scales = hn::Set(d, scale);
  for (int i = 0; i < n; i += kLanes) {
    const V v = hn::Mul(hn::Sub(Load(x, i, n), means), scales);
    Store(hn::MulAdd(v, Load(gain, i, n), Load(bias, i, n)), out, i, n);
  }
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
  const float sum = SumRow(n, [=](V squares, int i) HWY_ATTR {
    const V v = Load(x, i, n);
    return hn::MulAdd(v, v, squares);
  });
  const V scales = hn::Set(D(), 1.0f / std::sqrt(sum / static_cast<float>(n) + epsilon));
  for (int i = 0; i < n; i += kLanes) {
    Store(hn::Mul(hn::Mul(Load(x, i, n), scales), Load(gain, i, n)), out, i, n);
  }
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
HWY_INLINE V ExpByPolynomial(V x) {
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
  constexpr float kFloor = -87.0f;  // its exp is negligible beside exp(0), but not denormal
  const V maxima = hn::Set(d, max), floors = hn::Set(d, kFloor);
  return SumRow(n, [=](V sum, int i) HWY_ATTR {
    const V below = hn::Sub(Load(x, i, n, -std::numeric_limits<float>::infinity()), maxima);
    const auto counts = hn::Gt(below, floors);  // neither NaN nor far below
    return hn::Add(sum, hn::IfThenElseZero(counts, ExpByPolynomial(hn::IfThenElse(counts, below, floors))));
  });
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

// A product that needs more bits than a float has, minus what rounding leaves of it.
bool FusesMulAdds() {
  const volatile float x = 1.0f + 0x1p-23f;
  return MulAddOne(x, x, -(x * x)) != 0.0f;
}

const char* NameOfTarget() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace dragoman
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman {

HWY_EXPORT(Add);
HWY_EXPORT(AddAndNorm);
HWY_EXPORT(FusesMulAdds);
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

bool FusesMulAdd() { return HWY_DYNAMIC_DISPATCH(FusesMulAdds)(); }

std::string HighwayIsa() { return absl::AsciiStrToLower(HWY_DYNAMIC_DISPATCH(NameOfTarget)()); }

int64_t CompiledTargets() { return HWY_TARGETS; }

}  // namespace dragoman
#endif  // HWY_ONCE
