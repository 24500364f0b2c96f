// The activation functions by definition, in double precision, to compare with the kernels.

#ifndef DRAGOMAN_TESTS_MATH_ACTIVATION_BY_DEFINITION_H_
#define DRAGOMAN_TESTS_MATH_ACTIVATION_BY_DEFINITION_H_

#include <cmath>

#include "engine/math/activation.h"

namespace dragoman {

inline double ActivateByDefinition(Activation activation, double v) {
  switch (activation) {
    case Activation::kNone:
      return v;
    case Activation::kRelu:
      return v > 0 ? v : 0;
    case Activation::kSilu:
      return v / (1 + std::exp(-v));
    case Activation::kGelu:
      return 0.5 * v * (1 + std::erf(v / std::sqrt(2.0)));
    case Activation::kGeluTanh:
      return 0.5 * v * (1 + std::tanh(std::sqrt(2.0 / M_PI) * (v + 0.044715 * v * v * v)));
    case Activation::kGeluSigmoid:
      return v / (1 + std::exp(-1.702 * v));
  }
  return v;
}

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_MATH_ACTIVATION_BY_DEFINITION_H_
