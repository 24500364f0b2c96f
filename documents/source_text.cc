#include "documents/source_text.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/base/utf8.h"

namespace dragoman {

absl::Status DamagedLine(int line, std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", std::string(what)));
}

absl::Status DamagedAt(std::string_view part, size_t place, std::string_view what) {
  return DamagedLine(LineCounter(part).At(place), what);
}

int LineCounter::At(size_t place) {
  const std::string_view passed = part_.substr(place_, place - place_);
  line_ += static_cast<int>(std::count(passed.begin(), passed.end(), '\n'));
  place_ = place;
  return line_;
}

absl::Status CheckUtf8(std::string_view part) {
  if (IsValidUtf8(part)) return absl::OkStatus();
  if (part.starts_with("\xff\xfe") || part.starts_with("\xfe\xff")) {
    return DamagedLine(1, "is UTF-16, want UTF-8");
  }
  int line = 1;
  for (size_t begin = 0; begin < part.size(); ++line) {
    const size_t end = std::min(part.find('\n', begin), part.size());
    if (!IsValidUtf8(part.substr(begin, end - begin))) break;
    begin = end + 1;
  }
  return DamagedLine(line, "is not UTF-8");
}

bool IsNamed(std::string_view name, std::string_view other) {
  return absl::EqualsIgnoreCase(absl::string_view(name.data(), name.size()),
                                absl::string_view(other.data(), other.size()));
}

std::optional<char32_t> ParseCode(std::string_view digits, int base) {
  uint32_t code = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, code, base);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (error != std::errc() || stop != end || surrogate || code > 0x10ffff) return std::nullopt;
  return static_cast<char32_t>(code);
}

void AppendUtf8(char32_t code, std::string* out) {
  const auto add = [out](char32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xc0 | (code >> 6));
  } else {
    if (code < 0x10000) {
      add(0xe0 | (code >> 12));
    } else {
      add(0xf0 | (code >> 18));
      add(0x80 | ((code >> 12) & 0x3f));
    }
    add(0x80 | ((code >> 6) & 0x3f));
  }
  add(0x80 | (code & 0x3f));
}

}  // namespace dragoman
