#include "engine/base/limit.h"

#include "absl/strings/cord.h"

namespace dragoman {
namespace {

constexpr char kLimitPayload[] = "dragoman.limit";

}  // namespace

absl::Status OverLimit(absl::Status status, absl::string_view limit) {
  status.SetPayload(kLimitPayload, absl::Cord(limit));
  return status;
}

std::string LimitOf(const absl::Status& status) {
  const absl::optional<absl::Cord> limit = status.GetPayload(kLimitPayload);
  return limit.has_value() ? std::string(*limit) : std::string();
}

}  // namespace dragoman
