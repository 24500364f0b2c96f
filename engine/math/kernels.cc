#include "engine/math/kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

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

// The sum over i of a[i] * b[i].
HWY_INLINE float Dot(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, int n) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  V sum = hn::Zero(d);
  int i = 0;
  for (; i + lanes <= n; i += lanes) {
    sum = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), sum);
  }
  float total = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; i < n; ++i) total += a[i] * b[i];
  return total;
}

void AddAndNormRow(const float* x, const float* y, const float* gain, const float* bias,
                   float epsilon, int n, float* out) {
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
  const float mean = sum / static_cast<float>(n);

  const V means = hn::Set(d, mean);
  V squares = hn::Zero(d);
  for (i = 0; i + lanes <= n; i += lanes) {
    const V v = hn::Sub(hn::LoadU(d, out + i), means);
    squares = hn::MulAdd(v, v, squares);
  }
  float variance = hn::GetLane(hn::SumOfLanes(d, squares));
  for (; i < n; ++i) variance += (out[i] - mean) * (out[i] - mean);
  const float scale = 1.0f / std::sqrt(variance / static_cast<float>(n) + epsilon);

  const V scales = hn::Set(d, scale);
  for (i = 0; i + lanes <= n; i += lanes) {
    const V v = hn::Mul(hn::Sub(hn::LoadU(d, out + i), means), scales);
    hn::StoreU(hn::MulAdd(v, hn::LoadU(d, gain + i), hn::LoadU(d, bias + i)), d, out + i);
  }
  for (; i < n; ++i) out[i] = (out[i] - mean) * scale * gain[i] + bias[i];
}

void AddAndNorm(MatrixView<const float> x, MatrixView<const float> y, absl::Span<const float> gain,
                absl::Span<const float> bias, float epsilon, MatrixView<float> out) {
  for (int r = 0; r < x.rows(); ++r) {
    AddAndNormRow(x.Row(r).data(), y.Row(r).data(), gain.data(), bias.data(), epsilon, x.cols(),
                  out.Row(r).data());
  }
}

// weights[i] = exp(weights[i] - max), divided by their sum.
void Softmax(float* weights, int n) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const float max = *std::max_element(weights, weights + n);
  const V maxima = hn::Set(d, max);
  float sum = 0.0f;
  int i = 0;
  if (n >= lanes) {
    V sums = hn::Zero(d);
    for (; i + lanes <= n; i += lanes) {
      const V e = hn::Exp(d, hn::Sub(hn::LoadU(d, weights + i), maxima));
      hn::StoreU(e, d, weights + i);
      sums = hn::Add(sums, e);
    }
    sum = hn::GetLane(hn::SumOfLanes(d, sums));
  }
  for (; i < n; ++i) {
    weights[i] = std::exp(weights[i] - max);
    sum += weights[i];
  }
  const float scale = 1.0f / sum;
  for (i = 0; i < n; ++i) weights[i] *= scale;
}

// out[c] = sum over j of weights[j] * values[positions[j]][c], for the columns of one head.
HWY_INLINE void WeightedSum(const float* HWY_RESTRICT weights, MatrixView<const float> values,
                            absl::Span<const int32_t> positions, float* HWY_RESTRICT out) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const int n = static_cast<int>(positions.size());
  int c = 0;
  for (; c + lanes <= values.cols(); c += lanes) {
    V sum = hn::Zero(d);
    for (int j = 0; j < n; ++j) {
      sum = hn::MulAdd(hn::Set(d, weights[j]), hn::LoadU(d, values.Row(positions[j]).data() + c),
                       sum);
    }
    hn::StoreU(sum, d, out + c);
  }
  for (; c < values.cols(); ++c) {
    float sum = 0.0f;
    for (int j = 0; j < n; ++j) sum += weights[j] * values.at(positions[j], c);
    out[c] = sum;
  }
}

void Attend(int heads, absl::Span<const float> q, MatrixView<const float> keys,
            MatrixView<const float> values, absl::Span<const int32_t> positions,
            absl::Span<float> weights, absl::Span<float> out) {
  const int head_dim = static_cast<int>(q.size()) / heads;
  const int n = static_cast<int>(positions.size());
  for (int j = 0; j < n; ++j) {
    const float* key = keys.Row(positions[j]).data();
    for (int h = 0; h < heads; ++h) {
      weights[h * n + j] = Dot(q.data() + h * head_dim, key + h * head_dim, head_dim);
    }
  }
  for (int h = 0; h < heads; ++h) {
    float* const head_weights = weights.data() + h * n;
    Softmax(head_weights, n);
    WeightedSum(head_weights, values.Cols(h * head_dim, head_dim), positions,
                out.data() + h * head_dim);
  }
}

void Silu(MatrixView<float> x) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const V one = hn::Set(d, 1.0f);
  for (int r = 0; r < x.rows(); ++r) {
    float* const row = x.Row(r).data();
    int i = 0;
    for (; i + lanes <= x.cols(); i += lanes) {
      const V v = hn::LoadU(d, row + i);
      hn::StoreU(hn::Div(v, hn::Add(one, hn::Exp(d, hn::Neg(v)))), d, row + i);
    }
    for (; i < x.cols(); ++i) row[i] = row[i] / (1.0f + std::exp(-row[i]));
  }
}

void ToBFloat16Row(const float* x, int n, uint16_t* out) {
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
    hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di, rounded)), d16, out + i);
  }
  for (; i < n; ++i) {
    uint32_t bits;
    std::memcpy(&bits, x + i, sizeof(bits));
    const bool nan = x[i] != x[i];
    out[i] = nan ? 0x7FC0u : static_cast<uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman {

HWY_EXPORT(AddAndNorm);
HWY_EXPORT(Attend);
HWY_EXPORT(Silu);
HWY_EXPORT(ToBFloat16Row);

void AddAndNorm(MatrixView<const float> x, MatrixView<const float> y, absl::Span<const float> gain,
                absl::Span<const float> bias, float epsilon, MatrixView<float> out) {
  DRAGOMAN_CHECK(x.rows() == y.rows() && x.cols() == y.cols());
  DRAGOMAN_CHECK(x.rows() == out.rows() && x.cols() == out.cols());
  DRAGOMAN_CHECK(static_cast<int>(gain.size()) == x.cols() && bias.size() == gain.size());
  HWY_DYNAMIC_DISPATCH(AddAndNorm)(x, y, gain, bias, epsilon, out);
}

void Activate(Activation activation, MatrixView<float> x) {
  switch (activation) {
    case Activation::kNone:
      return;
    case Activation::kSilu:
      return HWY_DYNAMIC_DISPATCH(Silu)(x);
    case Activation::kRelu:
      for (int r = 0; r < x.rows(); ++r) {
        for (float& v : x.Row(r)) v = v < 0.0f ? 0.0f : v;
      }
      return;
    case Activation::kGelu:
      for (int r = 0; r < x.rows(); ++r) {
        for (float& v : x.Row(r)) v = 0.5f * v * (1.0f + std::erf(v * 0.70710678f));
      }
      return;
  }
}

void ToBFloat16(MatrixView<const float> x, MatrixView<uint16_t> out) {
  DRAGOMAN_CHECK(x.rows() == out.rows() && x.cols() == out.cols());
  for (int r = 0; r < x.rows(); ++r) {
    HWY_DYNAMIC_DISPATCH(ToBFloat16Row)(x.Row(r).data(), x.cols(), out.Row(r).data());
  }
}

void Attend(int heads, absl::Span<const float> q, MatrixView<const float> keys,
            MatrixView<const float> values, absl::Span<const int32_t> positions,
            absl::Span<float> weights, absl::Span<float> out) {
  DRAGOMAN_CHECK(!positions.empty() && weights.size() >= heads * positions.size());
  DRAGOMAN_CHECK(q.size() == out.size() && static_cast<int>(q.size()) == keys.cols());
  HWY_DYNAMIC_DISPATCH(Attend)(heads, q, keys, values, positions, weights, out);
}

}  // namespace dragoman
#endif  // HWY_ONCE
