// Two macros that pass an error on to the caller.
//
//   RETURN_IF_ERROR(CheckShape(w));
//   ASSIGN_OR_RETURN(Checkpoint checkpoint, OpenSafetensors(path));
//
// one for conditions that only a bug can violate:
//
//   DRAGOMAN_CHECK(rows > 0);
//
// and errors whose message is the parts that they are given, one after the other, as in
// absl::StrCat:
//
//   return InvalidArgumentError(path, ": has no ", token);
//
// Errors that the outside world can cause (files, requests) are an absl::Status, never a CHECK.

#ifndef DRAGOMAN_ENGINE_BASE_STATUS_H_
#define DRAGOMAN_ENGINE_BASE_STATUS_H_

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#define DRAGOMAN_CONCAT_INNER(a, b) a##b
#define DRAGOMAN_CONCAT(a, b) DRAGOMAN_CONCAT_INNER(a, b)

// An expression may be a call with a function in it that uses them, too.
#define RETURN_IF_ERROR(expression) \
  DRAGOMAN_RETURN_IF_ERROR(DRAGOMAN_CONCAT(status_, __COUNTER__), expression)
#define DRAGOMAN_RETURN_IF_ERROR(temporary, expression)           \
  do {                                                            \
    if (absl::Status temporary = (expression); !temporary.ok()) { \
      return temporary;                                           \
    }                                                             \
  } while (false)

#define ASSIGN_OR_RETURN(target, expression) \
  DRAGOMAN_ASSIGN_OR_RETURN(DRAGOMAN_CONCAT(status_or_, __COUNTER__), target, expression)
#define DRAGOMAN_ASSIGN_OR_RETURN(temporary, target, expression) \
  auto temporary = (expression);                                 \
  if (!temporary.ok()) return std::move(temporary).status();     \
  target = *std::move(temporary)

#define DRAGOMAN_CHECK(condition)                                                        \
  do {                                                                                   \
    if (!(condition)) [[unlikely]] {                                                     \
      std::fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)

namespace dragoman {

inline absl::Status FailedPreconditionError(const auto&... parts) {
  return absl::FailedPreconditionError(absl::StrCat(parts...));
}
inline absl::Status InternalError(const auto&... parts) {
  return absl::InternalError(absl::StrCat(parts...));
}
inline absl::Status InvalidArgumentError(const auto&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}
inline absl::Status NotFoundError(const auto&... parts) {
  return absl::NotFoundError(absl::StrCat(parts...));
}
inline absl::Status ResourceExhaustedError(const auto&... parts) {
  return absl::ResourceExhaustedError(absl::StrCat(parts...));
}
inline absl::Status UnavailableError(const auto&... parts) {
  return absl::UnavailableError(absl::StrCat(parts...));
}
inline absl::Status UnimplementedError(const auto&... parts) {
  return absl::UnimplementedError(absl::StrCat(parts...));
}

// The type of the payload that carries the name of the request field of an INVALID_ARGUMENT. The
// server turns it into a google.rpc.BadRequest.FieldViolation.
inline constexpr char kFieldPayload[] = "dragoman.field";

// INVALID_ARGUMENT about one field, named by its path in the public API, such as "contents[3]".
absl::Status InvalidField(const std::string& field, const std::string& message);
inline absl::Status InvalidField(const std::string& field, const auto&... parts) {
  return InvalidField(field, absl::StrCat(parts...));
}

// The field that InvalidField was given, or "".
std::string FieldOf(const absl::Status& status);

// The status with `context` in front of its message: Annotate(status, "model.bin: ").  Keeps the
// code and the payloads.  OK stays OK.
absl::Status Annotate(const absl::Status& status, absl::string_view context);
inline absl::Status Annotate(const absl::Status& status, const auto&... context) {
  return Annotate(status, absl::string_view(absl::StrCat(context...)));
}

// The status with the paths in its message relative to `directory`, for callers that name the
// directory themselves.
absl::Status RelativeTo(const std::string& directory, const absl::Status& status);

// The status, which then also says how long to wait before trying again.
absl::Status RetryAfter(absl::Status status, absl::Duration delay);

// The delay that RetryAfter was given, if any.
std::optional<absl::Duration> RetryAfterOf(const absl::Status& status);

// DEADLINE_EXCEEDED before the deadline: the work cannot be done in time, so it was not started.
// IsCannotBeMet tells it from a deadline that has passed.
absl::Status CannotBeMet(const std::string& message);
bool IsCannotBeMet(const absl::Status& status);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_STATUS_H_
