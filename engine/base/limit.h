// The limit that a RESOURCE_EXHAUSTED has reached, for the log: "max_waiting_tokens".

#ifndef DRAGOMAN_ENGINE_BASE_LIMIT_H_
#define DRAGOMAN_ENGINE_BASE_LIMIT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace dragoman {

// The status, which then also names the limit.
absl::Status OverLimit(absl::Status status, absl::string_view limit);

// The limit that OverLimit was given, or "".
std::string LimitOf(const absl::Status& status);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_LIMIT_H_
