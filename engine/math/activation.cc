#include "engine/math/activation.h"

#include "engine/math/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/math/activation.cc"
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

// exp(x), or infinity beyond the range of float32.
HWY_INLINE V Exp(V x) {
  const D d;
  return hn::Exp(d, hn::Min(x, hn::Set(d, 104.0f)));  // the range of Exp ends there
}

// Functions of one vector, for Activate and ActivateAndGate.
struct Relu {
  HWY_INLINE V operator()(V x) const { return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(D())), x); }
};

// x * sigmoid(factor x).
struct SigmoidGate {
  float factor;
  HWY_INLINE V operator()(V x) const {
    const D d;
    const V e = Exp(hn::Mul(x, hn::Set(d, -factor)));
    return hn::Div(x, hn::Add(hn::Set(d, 1.0f), e));
  }
};

// x (1 + tanh(u)) / 2 with u = sqrt(2 / pi) (x + 0.044715 x^3), which is x * sigmoid(2 u).
struct GeluTanh {
  HWY_INLINE V operator()(V x) const {
    const D d;
    constexpr float kFactor = -2.0f * 0.79788456f;  // -2 sqrt(2 / pi)
    const V cube = hn::Mul(hn::Mul(x, x), x);
    const V u = hn::MulAdd(cube, hn::Set(d, 0.044715f), x);
    const V e = Exp(hn::Mul(u, hn::Set(d, kFactor)));
    return hn::Div(x, hn::Add(hn::Set(d, 1.0f), e));
  }
};

// x (1 + erf(x / sqrt(2))) / 2, with 1 - erf(z) = (a1 t + ... + a5 t^5) exp(-z^2), t = 1 / (1 + p
// z).  The error is below 1.5e-7 (Abramowitz and Stegun, 7.1.26).
struct GeluErf {
  HWY_INLINE V operator()(V x) const {
    const D d;
    const V one = hn::Set(d, 1.0f);
    const V z = hn::Mul(hn::Abs(x), hn::Set(d, 0.70710678f));
    const V t = hn::Div(one, hn::MulAdd(z, hn::Set(d, 0.3275911f), one));
    V p = hn::Set(d, 1.061405429f);
    for (const float a : {-1.453152027f, 1.421413741f, -0.284496736f, 0.254829592f}) {
      p = hn::MulAdd(p, t, hn::Set(d, a));
    }
    const V e = Exp(hn::Neg(hn::Mul(z, z)));
    const V half_tail = hn::Mul(hn::Mul(hn::Mul(p, t), e), hn::Set(d, 0.5f));  // of Phi
    const V phi = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), half_tail, hn::Sub(one, half_tail));
    return hn::Mul(x, phi);
  }
};

struct Identity {
  HWY_INLINE V operator()(V x) const { return x; }
};

// out = f(x), or f(x) * factors if there are any, element by element.  The last few elements get a
// vector of their own, so that a result does not depend on the element's position.
template <typename F>
void MapRow(const F& f, const float* x, const float* factors, int n, float* out) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto map = [&](const float* from, const float* with, float* to) {
    V v = f(hn::LoadU(d, from));
    if (with != nullptr) v = hn::Mul(v, hn::LoadU(d, with));
    hn::StoreU(v, d, to);
  };
  int i = 0;
  for (; i + lanes <= n; i += lanes) {
    map(x + i, factors == nullptr ? nullptr : factors + i, out + i);
  }
  if (i == n) return;
  HWY_ALIGN float last[2][HWY_MAX_BYTES / sizeof(float)] = {};
  for (int k = 0; i + k < n; ++k) {
    last[0][k] = x[i + k];
    if (factors != nullptr) last[1][k] = factors[i + k];
  }
  map(last[0], factors == nullptr ? nullptr : last[1], last[0]);
  for (int k = 0; i + k < n; ++k) out[i + k] = last[0][k];
}

// With `gate`, x is [rows, 2 n], and the result for its left half is multiplied by its right half.
template <typename F>
void MapRows(const F& f, MatrixView<const float> x, bool gate, MatrixView<float> out) {
  for (int r = 0; r < x.rows(); ++r) {
    const float* const row = x.Row(r).data();
    MapRow(f, row, gate ? row + out.cols() : nullptr, out.cols(), out.Row(r).data());
  }
}

void Map(Activation activation, MatrixView<const float> x, bool gate, MatrixView<float> out) {
  switch (activation) {
    case Activation::kNone:
      return MapRows(Identity(), x, gate, out);
    case Activation::kRelu:
      return MapRows(Relu(), x, gate, out);
    case Activation::kSilu:
      return MapRows(SigmoidGate{1.0f}, x, gate, out);
    case Activation::kGelu:
      return MapRows(GeluErf(), x, gate, out);
    case Activation::kGeluTanh:
      return MapRows(GeluTanh(), x, gate, out);
    case Activation::kGeluSigmoid:
      return MapRows(SigmoidGate{1.702f}, x, gate, out);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman {

HWY_EXPORT(Map);

void Activate(Activation activation, MatrixView<float> x) {
  if (activation == Activation::kNone) return;
  HWY_DYNAMIC_DISPATCH(Map)(activation, x, /*gate=*/false, x);
}

void ActivateAndGate(Activation activation, MatrixView<const float> x, MatrixView<float> out) {
  DRAGOMAN_CHECK(x.rows() == out.rows() && x.cols() == 2 * out.cols());
  HWY_DYNAMIC_DISPATCH(Map)(activation, x, /*gate=*/true, out);
}

}  // namespace dragoman
#endif  // HWY_ONCE
