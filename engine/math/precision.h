// The arithmetic in which a model's matrices are multiplied.

#ifndef DRAGOMAN_ENGINE_MATH_PRECISION_H_
#define DRAGOMAN_ENGINE_MATH_PRECISION_H_

#include <string>

#include "absl/status/statusor.h"

namespace dragoman {

enum class Precision {
  kAuto,      // int8
  kFloat32,   // as in the checkpoint
  kBFloat16,  // weights and activations of products; sums, norms and softmax stay float32
  kInt8,      // weights by output channel, activations by row; exact sums in 32-bit integers
};

const char* NameOf(Precision precision);  // "float32"

// INVALID_ARGUMENT for an unknown name.
absl::StatusOr<Precision> ParsePrecision(const std::string& name);

// Replaces kAuto by what it stands for.
Precision Resolve(Precision precision);

// What multiplies matrices.
enum class Matmul {
  kAuto,    // our kernels; bfloat16 (but on ARM), and with AMX int8 of many rows: oneDNN
  kOneDnn,  // the library only
  kNative,  // our kernels only
};

const char* NameOf(Matmul matmul);  // "onednn"

// INVALID_ARGUMENT for an unknown name.
absl::StatusOr<Matmul> ParseMatmul(const std::string& name);

// The precision in which matrices are multiplied, and what multiplies them.
struct Arithmetic {
  Arithmetic(Precision its_precision, Matmul its_matmul = Matmul::kAuto)  // NOLINT: converts
      : precision(its_precision), matmul(its_matmul) {}

  Precision precision;
  Matmul matmul;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_PRECISION_H_
