#include "documents/markdown_spelling.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "documents/markdown_mask.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

bool IsAlnum(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n'; }

// Whether text[at] would be read as a marker.
bool IsMarker(std::string_view text, size_t at, bool table) {
  const char before = at > 0 ? text[at - 1] : '\0';
  const char after = at + 1 < text.size() ? text[at + 1] : '\0';
  switch (text[at]) {
    case '`':
    case '[':
    case ']':
      return true;
    case '\\':
      return after == '\0' || absl::ascii_ispunct(static_cast<unsigned char>(after));
    case '*':
      return !(IsSpace(before) && IsSpace(after));
    case '_':
      return !(IsSpace(before) && IsSpace(after)) && !(IsAlnum(before) && IsAlnum(after));
    case '~':
      return text.find('~') < at || text.find('~', at + 1) != text.npos;
    case '<':
      return absl::ascii_isalpha(static_cast<unsigned char>(after)) || after == '/' ||
             after == '!' || after == '?';
    case '&': {
      const std::string_view rest = text.substr(at + 1);
      const size_t end = std::min(rest.find_first_not_of("#0123456789abcdefghijklmnopqrstuvwxyz"
                                                         "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
                                  rest.size());
      return end > 0 && end < rest.size() && rest[end] == ';';
    }
    case '|':
      return table;
    default:
      return false;
  }
}

}  // namespace

std::string SpellMarkdown(std::string_view text, bool table, const MarkdownSpellings& spellings) {
  std::string out;
  bool dollars = false;
  for (size_t at = text.find('$'); at != text.npos; at = text.find('$', at + 1)) {
    dollars = dollars || EquationSize(text.substr(at)) > 0;
  }
  // What would be a link, or the definition of one.
  const bool links =
      text.find("](") != text.npos || text.find("][") != text.npos || text.find("]:") != text.npos;
  size_t address = 0;  // the end of the last one, in which GitHub reads no emphasis
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const std::string_view rest = text.substr(begin);
    if (rest.starts_with("https://") || rest.starts_with("http://")) {
      address = std::min(text.find_first_of(" \n<", begin), text.size());
    }
    NextCodePoint(text, &at);
    const std::string_view character = text.substr(begin, at - begin);
    const auto spelling = spellings.find(character);
    if (spelling != spellings.end() && !(links && spelling->second == character)) {
      out += spelling->second;
      continue;
    }
    const bool of_address = begin < address && (character == "_" || character == "*");
    if ((IsMarker(text, begin, table) && !of_address) || (dollars && character == "$")) out += '\\';
    out += character == "\n" ? " " : character;
  }
  return out;
}

std::string SpellMarkdownLine(std::string line) {
  const auto marks = [&](size_t at) {  // a space, or the end, stands there
    return at >= line.size() || IsSpace(line[at]);
  };
  const size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
  const size_t hashes = std::min(line.find_first_not_of('#'), line.size());
  const bool rule = line.starts_with("---") || line.starts_with("===");
  const bool fence = line.starts_with("~~~");
  if (digits > 0 && digits < line.size() && (line[digits] == '.' || line[digits] == ')') &&
      marks(digits + 1)) {
    line.insert(digits, "\\");
  } else if (line.starts_with('>') || (hashes > 0 && hashes < 7 && marks(hashes)) || rule ||
             fence ||
             (!line.empty() && std::string_view("+-*=").find(line[0]) != line.npos && marks(1))) {
    line.insert(0, "\\");
  }
  return line;
}

}  // namespace dragoman
