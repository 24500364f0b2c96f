#include "server/store/kept_text.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "engine/text/language_tag.h"

namespace dragoman {

std::pair<std::string, std::string> SplitComment(std::string_view comment) {
  const std::pair<std::string, std::string> both =
      absl::StrSplit(std::string(comment), absl::MaxSplits(':', 1));
  return {std::string(absl::StripAsciiWhitespace(both.first)),
          std::string(absl::StripAsciiWhitespace(both.second))};
}

absl::StatusOr<LanguagePair> LanguagesFrom(const std::string& value) {
  std::vector<std::string> tags = absl::StrSplit(value, ' ', absl::SkipEmpty());
  if (tags.size() > 2) return absl::InvalidArgumentError("languages: want two tags, such as en de");
  tags.resize(2);
  for (std::string& tag : tags) {
    if (tag == "*") tag.clear();
  }
  return LanguagePair{tags[0], tags[1]};
}

absl::Status CheckLanguages(const std::string& field, const LanguagePair& languages) {
  for (const auto& [name, tag] : {std::pair(".source_language", &languages.source),
                                  std::pair(".target_language", &languages.target)}) {
    const auto is_plain = [](char c) { return absl::ascii_isalnum(c) || c == '-' || c == '_'; };
    if (tag->empty()) continue;
    if (!absl::c_all_of(*tag, is_plain) || !ParseLanguage(*tag).has_value()) {
      return InvalidField(field + name, "is not a language");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckLine(const std::string& field, std::string_view text, size_t most) {
  if (!IsValidUtf8(text)) return InvalidField(field, "is not valid UTF-8");
  if (text.size() > most) {
    return InvalidField(field, "has ", text.size(), " bytes, the most is ", most);
  }
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (absl::c_any_of(text, is_control)) {
    return InvalidField(field, "has a tab, a line break or another control character");
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> ReadOwner(std::string_view key, const std::string& value, OwnedHead* head) {
  constexpr int64_t kMostVersion = int64_t{1} << 53;  // JSON's numbers are exact up to it
  std::string error;
  if (key == "name") {
    head->name = value;
  } else if (key == "owner") {
    head->owner = value;
  } else if (key == "shared") {
    head->shared = value == "yes";
  } else if (key == "version") {
    if (!absl::SimpleAtoi(value, &head->version) || head->version < 1 ||
        head->version > kMostVersion) {
      return absl::InvalidArgumentError("version: want a number from 1 to 2^53");
    }
  } else if (key == "created") {
    const bool is_time = absl::ParseTime(absl::RFC3339_full, value, &head->created, &error);
    const int64_t seconds = absl::ToUnixSeconds(head->created);
    if (!is_time || seconds < 0 || seconds >= int64_t{253402300800}) {  // the year 10000
      return absl::InvalidArgumentError("created: want a time, such as 2026-01-31T12:00:00Z");
    }
  } else {
    return false;
  }
  return true;
}

}  // namespace dragoman
