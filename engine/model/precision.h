// In which arithmetic a model's matrices are multiplied.

#ifndef DRAGOMAN_ENGINE_MODEL_PRECISION_H_
#define DRAGOMAN_ENGINE_MODEL_PRECISION_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace dragoman {

enum class Precision {
  kAuto,  // the fastest that the CPU runs natively and this build has
  kFloat32,
};

const char* NameOf(Precision precision);  // "float32"

// INVALID_ARGUMENT for a name that is none; UNIMPLEMENTED for bfloat16 and int8, which are not
// built.
absl::StatusOr<Precision> ParsePrecision(const std::string& name);

// Resolves kAuto to what this machine runs.
Precision Resolve(Precision precision);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_PRECISION_H_
