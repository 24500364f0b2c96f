// The comments of a file that say whose it is: `# KEY: VALUE`.

#ifndef DRAGOMAN_SERVER_STORE_OWNER_COMMENTS_H_
#define DRAGOMAN_SERVER_STORE_OWNER_COMMENTS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/time/time.h"

namespace dragoman {

// Takes what a comment says of the owner; true if it says that.  T has `name`, `owner`, `shared`,
// `version` and `created`, as Owned.
template <typename T>
absl::StatusOr<bool> ReadOwner(std::string_view key, const std::string& value, T* text) {
  constexpr int64_t kMostVersion = int64_t{1} << 53;  // JSON's numbers are exact up to it
  std::string error;
  if (key == "name") {
    text->name = value;
  } else if (key == "owner") {
    text->owner = value;
  } else if (key == "shared") {
    text->shared = value == "yes";
  } else if (key == "version") {
    if (!absl::SimpleAtoi(value, &text->version) || text->version < 1 ||
        text->version > kMostVersion) {
      return absl::InvalidArgumentError("version: want a number from 1 to 2^53");
    }
  } else if (key == "created") {
    const bool is_time = absl::ParseTime(absl::RFC3339_full, value, &text->created, &error);
    const int64_t seconds = absl::ToUnixSeconds(text->created);
    if (!is_time || seconds < 0 || seconds >= int64_t{253402300800}) {  // the year 10000
      return absl::InvalidArgumentError("created: want a time, such as 2026-01-31T12:00:00Z");
    }
  } else {
    return false;
  }
  return true;
}

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_STORE_OWNER_COMMENTS_H_
