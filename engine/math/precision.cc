#include "engine/math/precision.h"

#include <cstddef>
#include <iterator>

#include "engine/base/status.h"

namespace dragoman {

namespace {

constexpr const char* kPrecisions[] = {"auto", "float32", "bfloat16", "int8"};
constexpr const char* kMatmuls[] = {"auto", "onednn", "native"};

}  // namespace

const char* NameOf(Precision precision) { return kPrecisions[static_cast<size_t>(precision)]; }

absl::StatusOr<Precision> ParsePrecision(const std::string& name) {
  for (size_t i = 0; i < std::size(kPrecisions); ++i) {
    if (name == kPrecisions[i]) return static_cast<Precision>(i);
  }
  return InvalidArgumentError("precision is \"", name, "\", want auto, float32, bfloat16 or int8");
}

const char* NameOf(Matmul matmul) { return kMatmuls[static_cast<size_t>(matmul)]; }

absl::StatusOr<Matmul> ParseMatmul(const std::string& name) {
  for (size_t i = 0; i < std::size(kMatmuls); ++i) {
    if (name == kMatmuls[i]) return static_cast<Matmul>(i);
  }
  return InvalidArgumentError("matmul is \"", name, "\", want auto, onednn or native");
}

Precision Resolve(Precision precision) {
  return precision == Precision::kAuto ? Precision::kInt8 : precision;
}

}  // namespace dragoman
