#include "engine/base/status.h"

#include "absl/strings/cord.h"

namespace dragoman {

absl::Status InvalidField(const std::string& field, const std::string& message) {
  absl::Status status = absl::InvalidArgumentError(field + ": " + message);
  status.SetPayload(kFieldPayload, absl::Cord(field));
  return status;
}

std::string FieldOf(const absl::Status& status) {
  const absl::optional<absl::Cord> field = status.GetPayload(kFieldPayload);
  return field.has_value() ? std::string(*field) : std::string();
}

}  // namespace dragoman
