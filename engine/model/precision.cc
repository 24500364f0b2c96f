#include "engine/model/precision.h"

namespace dragoman {

const char* NameOf(Precision precision) {
  switch (precision) {
    case Precision::kAuto:
      return "auto";
    case Precision::kFloat32:
      return "float32";
  }
  return "unknown";
}

absl::StatusOr<Precision> ParsePrecision(const std::string& name) {
  if (name == "auto") return Precision::kAuto;
  if (name == "float32") return Precision::kFloat32;
  if (name == "bfloat16" || name == "int8") {
    return absl::UnimplementedError("precision " + name +
                                    " is not in this version; use auto or float32");
  }
  return absl::InvalidArgumentError("precision is \"" + name +
                                    "\", want auto, float32, bfloat16 or int8");
}

Precision Resolve(Precision precision) {
  return precision == Precision::kAuto ? Precision::kFloat32 : precision;
}

}  // namespace dragoman
