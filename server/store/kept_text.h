// What the texts of all things have in common: comments that say whose they are and for which
// languages, `# KEY: VALUE`, and what may be in a line.

#ifndef DRAGOMAN_SERVER_STORE_KEPT_TEXT_H_
#define DRAGOMAN_SERVER_STORE_KEPT_TEXT_H_

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
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

// Takes what a comment says of the owner; true if it says that.
absl::StatusOr<bool> ReadOwner(std::string_view key, const std::string& value, OwnedHead* head);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_STORE_KEPT_TEXT_H_
