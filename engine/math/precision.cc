#include "engine/math/precision.h"

namespace dragoman {

const char* NameOf(Precision precision) {
  switch (precision) {
    case Precision::kAuto:
      return "auto";
    case Precision::kFloat32:
      return "float32";
    case Precision::kBFloat16:
      return "bfloat16";
    case Precision::kInt8:
      return "int8";
  }
  return "unknown";
}

absl::StatusOr<Precision> ParsePrecision(const std::string& name) {
  if (name == "auto") return Precision::kAuto;
  if (name == "float32") return Precision::kFloat32;
  if (name == "bfloat16") return Precision::kBFloat16;
  if (name == "int8") return Precision::kInt8;
  return absl::InvalidArgumentError("precision is \"" + name +
                                    "\", want auto, float32, bfloat16 or int8");
}

const char* NameOf(Matmul matmul) {
  switch (matmul) {
    case Matmul::kAuto:
      return "auto";
    case Matmul::kOneDnn:
      return "onednn";
    case Matmul::kNative:
      return "native";
  }
  return "unknown";
}

absl::StatusOr<Matmul> ParseMatmul(const std::string& name) {
  if (name == "auto") return Matmul::kAuto;
  if (name == "onednn") return Matmul::kOneDnn;
  if (name == "native") return Matmul::kNative;
  return absl::InvalidArgumentError("matmul is \"" + name + "\", want auto, onednn or native");
}

Precision Resolve(Precision precision) {
  return precision == Precision::kAuto ? Precision::kInt8 : precision;
}

}  // namespace dragoman
