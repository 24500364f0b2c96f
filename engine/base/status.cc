#include "engine/base/status.h"

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace dragoman {
namespace {

constexpr char kRetryPayload[] = "dragoman.retry_after_ms";
constexpr char kCannotBeMetPayload[] = "dragoman.cannot_be_met";

absl::Status WithMessage(const absl::Status& status, const std::string& message) {
  absl::Status changed(status.code(), message);
  status.ForEachPayload([&](absl::string_view type, const absl::Cord& payload) {
    changed.SetPayload(type, payload);
  });
  return changed;
}

}  // namespace

absl::Status InvalidField(const std::string& field, const std::string& message) {
  absl::Status status = InvalidArgumentError(field, ": ", message);
  status.SetPayload(kFieldPayload, absl::Cord(field));
  return status;
}

std::string FieldOf(const absl::Status& status) {
  const absl::optional<absl::Cord> field = status.GetPayload(kFieldPayload);
  return field.has_value() ? std::string(*field) : std::string();
}

absl::Status Annotate(const absl::Status& status, absl::string_view context) {
  return status.ok() ? status : WithMessage(status, absl::StrCat(context, status.message()));
}

absl::Status RelativeTo(const std::string& directory, const absl::Status& status) {
  if (status.ok()) return status;
  return WithMessage(status, absl::StrReplaceAll(status.message(), {{directory + "/", ""}}));
}

absl::Status RetryAfter(absl::Status status, absl::Duration delay) {
  status.SetPayload(kRetryPayload, absl::Cord(absl::StrCat(absl::ToInt64Milliseconds(delay))));
  return status;
}

std::optional<absl::Duration> RetryAfterOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kRetryPayload);
  int64_t milliseconds = 0;
  if (!payload.has_value() || !absl::SimpleAtoi(std::string(*payload), &milliseconds)) {
    return std::nullopt;
  }
  return absl::Milliseconds(milliseconds);
}

absl::Status CannotBeMet(const std::string& message) {
  absl::Status status = absl::DeadlineExceededError(message);
  status.SetPayload(kCannotBeMetPayload, absl::Cord());
  return status;
}

bool IsCannotBeMet(const absl::Status& status) {
  return status.GetPayload(kCannotBeMetPayload).has_value();
}

}  // namespace dragoman
