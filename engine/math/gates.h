// The gates of highway layers and recurrent cells, element by element; sigma is the logistic
// function.  Vectorized.  Each result depends only on the inputs of its own element.

#ifndef DRAGOMAN_ENGINE_MATH_GATES_H_
#define DRAGOMAN_ENGINE_MATH_GATES_H_

#include "absl/types/span.h"

namespace dragoman {

// y = g y + (1 - g) x with g = sigma(gate): Srivastava et al. 2015, equation 3.
void Blend(absl::Span<const float> gate, absl::Span<const float> x, absl::Span<float> y);

// y = sigma(in) x + sigma(forget) y: Zhang et al. 2018, equation 6.
void GatedSum(absl::Span<const float> in, absl::Span<const float> x, absl::Span<const float> forget,
              absl::Span<float> y);

// next = f c + (1 - f) x with f = sigma(forget), out = max(0, next): Kim et al. 2019, section 3.1.
// `next` may be `c`.
void ForgetAndTake(absl::Span<const float> forget, absl::Span<const float> x,
                   absl::Span<const float> c, absl::Span<float> next, absl::Span<float> out);

// A gated recurrent unit of n elements (Cho et al. 2014, equations 5 to 8, whose z is 1 - z here),
// after the matrix products:
//
//   r = sigma(x_1 + s_1 + b_1), z = sigma(x_2 + s_2 + b_2)
//   h = tanh(x_3 + r s_3 + b_3), or with `bias_in_reset` tanh(x_3 + r (s_3 + b_3))
//   next = (1 - z) h + z state
struct GatedUnit {
  absl::Span<const float> x;      // [3 n], or empty: no input
  absl::Span<const float> s;      // [3 n], of the state
  absl::Span<const float> b;      // [3 n]
  absl::Span<const float> state;  // [n]
  bool bias_in_reset = false;
};
// `next` may be the unit's state.
void Update(const GatedUnit& unit, absl::Span<float> next);

// x = tanh(x).
void Tanh(absl::Span<float> x);

// The sum of tanh(a[i] + b[i]) w[i]: the score of additive attention (Bahdanau et al. 2015,
// appendix A.1.2).
float TanhScore(absl::Span<const float> a, absl::Span<const float> b, absl::Span<const float> w);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_GATES_H_
