#include "engine/math/gates.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/math/gates.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every instruction set
// Highway's headers come after foreach_target.
#include "engine/math/row_sums-inl.h"
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman {
namespace HWY_NAMESPACE {

HWY_INLINE V Sigma(V x) {
  const D d;
  const V one = hn::Set(d, 1.0f);
  const V e = hn::Exp(d, hn::Min(hn::Neg(x), hn::Set(d, 88.0f)));
  return hn::Div(one, hn::Add(one, e));
}

HWY_INLINE V TanhOf(V x) {
  // 2 sigma(2 x) - 1 would lose the digits of small x; Highway's Tanh does not.
  return hn::Tanh(D(), x);
}

// g a + (1 - g) b.
HWY_INLINE V Mix(V g, V a, V b) { return hn::MulAdd(g, hn::Sub(a, b), b); }

void BlendRow(const float* gate, const float* x, int n, float* y) {
  for (int i = 0; i < n; i += static_cast<int>(hn::Lanes(D()))) {
    Store(Mix(Sigma(Load(gate, i, n)), Load(y, i, n), Load(x, i, n)), y, i, n);
  }
}

void GatedSumRow(const float* in, const float* x, const float* forget, int n, float* y) {
  for (int i = 0; i < n; i += static_cast<int>(hn::Lanes(D()))) {
    const V kept = hn::Mul(Sigma(Load(forget, i, n)), Load(y, i, n));
    Store(hn::MulAdd(Sigma(Load(in, i, n)), Load(x, i, n), kept), y, i, n);
  }
}

void ForgetAndTakeRow(const float* forget, const float* x, const float* c, int n, float* next,
                      float* out) {
  const V zero = hn::Zero(D());
  for (int i = 0; i < n; i += static_cast<int>(hn::Lanes(D()))) {
    const V taken = Mix(Sigma(Load(forget, i, n)), Load(c, i, n), Load(x, i, n));
    Store(taken, next, i, n);
    Store(hn::IfThenElse(hn::Lt(taken, zero), zero, taken), out, i, n);  // NaN passes through
  }
}

void UpdateRow(const GatedUnit& u, int n, float* next) {
  const D d;
  // Element i of part k; a vector must not run into the next part.
  const auto part = [n](absl::Span<const float> from, int k, int i)
                        HWY_ATTR { return Load(from.data() + k * n, i, n); };
  for (int i = 0; i < n; i += static_cast<int>(hn::Lanes(d))) {
    V x1 = hn::Zero(d), x2 = x1, x3 = x1;
    if (!u.x.empty()) x1 = part(u.x, 0, i), x2 = part(u.x, 1, i), x3 = part(u.x, 2, i);
    const V r = Sigma(hn::Add(hn::Add(x1, part(u.s, 0, i)), part(u.b, 0, i)));
    const V z = Sigma(hn::Add(hn::Add(x2, part(u.s, 1, i)), part(u.b, 1, i)));
    const V s3 = part(u.s, 2, i), b3 = part(u.b, 2, i);
    const V inner =
        u.bias_in_reset ? hn::MulAdd(hn::Add(s3, b3), r, x3) : hn::Add(hn::MulAdd(s3, r, x3), b3);
    Store(Mix(z, Load(u.state.data(), i, n), TanhOf(inner)), next, i, n);
  }
}

void TanhRow(float* x, int n) {
  for (int i = 0; i < n; i += static_cast<int>(hn::Lanes(D()))) {
    Store(TanhOf(Load(x, i, n)), x, i, n);
  }
}

float TanhScoreRow(const float* a, const float* b, const float* w, int n) {
  return SumRow(n, [=](V sum, int i) HWY_ATTR {
    return hn::MulAdd(TanhOf(hn::Add(Load(a, i, n), Load(b, i, n))), Load(w, i, n), sum);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman {
namespace {

HWY_EXPORT(BlendRow);
HWY_EXPORT(GatedSumRow);
HWY_EXPORT(ForgetAndTakeRow);
HWY_EXPORT(UpdateRow);
HWY_EXPORT(TanhRow);
HWY_EXPORT(TanhScoreRow);

int SizeOf(absl::Span<const float> x) { return static_cast<int>(x.size()); }

}  // namespace

void Blend(absl::Span<const float> gate, absl::Span<const float> x, absl::Span<float> y) {
  HWY_DYNAMIC_DISPATCH(BlendRow)(gate.data(), x.data(), SizeOf(y), y.data());
}

void GatedSum(absl::Span<const float> in, absl::Span<const float> x, absl::Span<const float> forget,
              absl::Span<float> y) {
  HWY_DYNAMIC_DISPATCH(GatedSumRow)(in.data(), x.data(), forget.data(), SizeOf(y), y.data());
}

void ForgetAndTake(absl::Span<const float> forget, absl::Span<const float> x,
                   absl::Span<const float> c, absl::Span<float> next, absl::Span<float> out) {
  HWY_DYNAMIC_DISPATCH(ForgetAndTakeRow)
  (forget.data(), x.data(), c.data(), SizeOf(out), next.data(), out.data());
}

void Update(const GatedUnit& unit, absl::Span<float> next) {
  HWY_DYNAMIC_DISPATCH(UpdateRow)(unit, SizeOf(next), next.data());
}

void Tanh(absl::Span<float> x) { HWY_DYNAMIC_DISPATCH(TanhRow)(x.data(), SizeOf(x)); }

float TanhScore(absl::Span<const float> a, absl::Span<const float> b, absl::Span<const float> w) {
  return HWY_DYNAMIC_DISPATCH(TanhScoreRow)(a.data(), b.data(), w.data(), SizeOf(w));
}

}  // namespace dragoman
#endif  // HWY_ONCE
