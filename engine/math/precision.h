// In which arithmetic a model's matrices are multiplied.

#ifndef DRAGOMAN_ENGINE_MATH_PRECISION_H_
#define DRAGOMAN_ENGINE_MATH_PRECISION_H_

#include <string>

#include "absl/status/statusor.h"

namespace dragoman {

enum class Precision {
  kAuto,      // int8
  kFloat32,   // as the checkpoint has them
  kBFloat16,  // weights and activations of products; sums, norms and softmax stay float32
  kInt8,      // weights by output channel, activations by row; exact sums in 32 bit integers
};

const char* NameOf(Precision precision);  // "float32"

// INVALID_ARGUMENT for a name that is none.
absl::StatusOr<Precision> ParsePrecision(const std::string& name);

// Resolves kAuto.
Precision Resolve(Precision precision);

// Who multiplies.
enum class Matmul {
  kAuto,    // float32: our kernels; bfloat16: oneDNN; int8: whichever is the faster here
  kOneDnn,  // the library alone
  kNative,  // our kernels alone
};

const char* NameOf(Matmul matmul);  // "onednn"

// INVALID_ARGUMENT for a name that is none.
absl::StatusOr<Matmul> ParseMatmul(const std::string& name);

// In which numbers and by whom matrices are multiplied.
struct Arithmetic {
  Arithmetic(Precision its_precision, Matmul its_matmul = Matmul::kAuto)  // NOLINT: converts
      : precision(its_precision), matmul(its_matmul) {}

  Precision precision;
  Matmul matmul;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_PRECISION_H_
