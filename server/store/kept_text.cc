#include "server/store/kept_text.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
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

}  // namespace dragoman
