// What the texts of all things have in common: comments that say whose they are and for which
// languages, `# KEY: VALUE`, and what may be in a line.

#ifndef DRAGOMAN_SERVER_STORE_KEPT_TEXT_H_
#define DRAGOMAN_SERVER_STORE_KEPT_TEXT_H_

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/time/time.h"
#include "engine/text/languages.h"
#include "server/store/owned.h"

namespace dragoman {

inline constexpr size_t kMaxKeptName = 256;  // bytes

// The key and the value of a comment, without its #.
std::pair<std::string, std::string> SplitComment(std::string_view comment);

// "en de"; a * is any.
absl::StatusOr<LanguagePair> LanguagesFrom(const std::string& value);

// INVALID_ARGUMENT with the field, such as "glossary.source_language", if it is no language.
absl::Status CheckLanguages(const std::string& field, const LanguagePair& languages);

// INVALID_ARGUMENT if it is no valid UTF-8, has a control character or too many bytes.
absl::Status CheckLine(const std::string& field, std::string_view text, size_t most);

// Sets what a text says of a thing besides its content.
template <typename T>
void SetOwned(const T& text, Owned* thing) {
  thing->name = text.name;
  thing->owner = text.owner;
  thing->shared = text.shared;
  thing->version = text.version;
  thing->created = text.created;
}

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

#endif  // DRAGOMAN_SERVER_STORE_KEPT_TEXT_H_
