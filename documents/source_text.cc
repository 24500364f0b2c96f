#include "documents/source_text.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"

namespace dragoman {

int LineCounter::At(size_t place) {
  const std::string_view passed = part_.substr(place_, place - place_);
  line_ += static_cast<int>(std::count(passed.begin(), passed.end(), '\n'));
  place_ = place;
  return line_;
}

absl::Status SkipComments(std::string_view part, bool hashes, size_t* at) {
  while (true) {
    *at = std::min(part.find_first_not_of(" \t\r\n", *at), part.size());
    const std::string_view rest = part.substr(*at);
    const bool hash = hashes && rest.starts_with('#') && !rest.starts_with("#[");
    if (hash || rest.starts_with("//")) {
      *at = std::min(part.find('\n', *at), part.size());
    } else if (rest.starts_with("/*")) {
      const size_t close = part.find("*/", *at + 2);
      if (close == part.npos) return DamagedAt(part, *at, "has a comment without its end");
      *at = close + 2;
    } else {
      return absl::OkStatus();
    }
  }
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
  return DamagedLine(
      line, "is not UTF-8: name its encoding (windows-1252, Shift_JIS, ...) or convert it");
}

bool HasWords(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const char32_t c = NextCodePoint(text, &at);
    if (c < 0x80 && absl::ascii_isalpha(static_cast<unsigned char>(c))) return true;
    if (c < 0xc0 || c == 0xd7 || c == 0xf7) continue;
    const bool symbol = (c >= 0x2000 && c < 0x2c00) || (c >= 0x2e00 && c < 0x2e80) ||
                        (c >= 0x3000 && c < 0x3005) || (c >= 0x3008 && c < 0x3021) ||
                        (c >= 0xe000 && c < 0xf900) || (c >= 0xfe00 && c < 0xfe70) || c == 0xfeff ||
                        (c >= 0xff00 && c < 0xff21) || (c >= 0xfff0 && c < 0x10000) ||
                        (c >= 0x1f000 && c < 0x20000);
    if (!symbol) return true;
  }
  return false;
}

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

bool IsNamed(std::string_view name, std::string_view other) {
  return absl::EqualsIgnoreCase(absl::string_view(name.data(), name.size()),
                                absl::string_view(other.data(), other.size()));
}

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

size_t CutPlace(std::string_view text, size_t most) {
  const std::string_view head = text.substr(0, most);
  const auto after = [&](std::string_view end) {
    const size_t at = head.rfind(end);
    return at == head.npos || at == 0 ? 0 : at + end.size();
  };
  if (const size_t line = after("\n"); line > 0) return line;
  for (const std::string_view end : {". ", "! ", "? ", "\u3002", "\uff01", "\uff1f", " ", "\t"}) {
    if (const size_t at = after(end); at > 0) return at;
  }
  const size_t size = BeginningOf(text, most).size();
  const size_t reference = head.rfind('&');  // is not torn apart
  const bool torn = reference != head.npos && reference > 0 && reference + 16 > size &&
                    head.find(';', reference) == head.npos;
  return torn ? reference : size;
}

std::string WithEscapes(std::string_view text, std::string_view characters,
                        std::string_view letters,
                        absl::FunctionRef<bool(char32_t c, std::string* out)> write) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    char32_t c = NextCodePoint(text, &at);
    const size_t found = c < 0x80 ? characters.find(static_cast<char>(c)) : characters.npos;
    if (found != characters.npos) {
      out += {'\\', letters[found]};
    } else if (!write(c, &out)) {
      if (c >= 0x10000) absl::StrAppendFormat(&out, "\\u%04x", 0xd7c0 + (c >> 10));
      absl::StrAppendFormat(&out, "\\u%04x", c < 0x10000 ? c : 0xdc00 + (c & 0x3ff));
    }
  }
  return out;
}

std::vector<std::string> SplitLines(std::string_view text) {
  return absl::StrSplit(absl::string_view(text.data(), text.size()), '\n');
}

std::string OneSpace(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!space) out += c;
    if (space && (out.empty() || out.back() != ' ')) out += ' ';
  }
  return out;
}

}  // namespace dragoman
