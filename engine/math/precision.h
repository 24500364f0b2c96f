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

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_PRECISION_H_
