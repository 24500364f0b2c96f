// The non-linearity between the two matrices of a feed-forward layer.

#ifndef DRAGOMAN_ENGINE_MATH_ACTIVATION_H_
#define DRAGOMAN_ENGINE_MATH_ACTIVATION_H_

namespace dragoman {

enum class Activation {
  kNone,
  kRelu,         // max(0, x); "Attention Is All You Need", equation 2
  kSilu,         // x * sigmoid(x), which Marian calls swish
  kGelu,         // x * Phi(x), by erf
  kGeluTanh,     // x * Phi(x), approximately: Phi by tanh (Hendrycks and Gimpel 2016)
  kGeluSigmoid,  // x * sigmoid(1.702 x), from the same paper
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_ACTIVATION_H_
