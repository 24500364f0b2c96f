#include "documents/text_encoding.h"

#include <iconv.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "documents/source_text.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

constexpr size_t kMostHeader = 4096;  // bytes in which a file declares its encoding

// Where the name of the encoding stands that a text declares; empty: nowhere.
std::string_view DeclaredIn(std::string_view format, std::string_view text) {
  std::string_view head = text.substr(0, kMostHeader);
  std::string lower(head);
  absl::AsciiStrToLower(&lower);
  const auto value = [&](size_t begin, std::string_view name) {
    for (size_t at = begin; (at = lower.find(name, at)) != lower.npos;) {
      at = std::min(lower.find_first_not_of(" \t\r\n", at + name.size()), lower.size());
      if (lower[at] == '=') return lower.find_first_not_of(" \t\r\n", at + 1);
    }
    return lower.npos;
  };
  size_t at = lower.npos;
  if (lower.starts_with("<?xml")) {
    at = value(0, "encoding");
    if (at > lower.find("?>")) at = lower.npos;
  } else if (format == "html" || format == "po") {
    at = value(std::min(lower.find(format == "html" ? "<meta" : "content-type:"), lower.size()),
               "charset");
  }
  if (at == lower.npos) return text.substr(text.size());
  at += lower[at] == '"' || lower[at] == '\'';
  const size_t end = std::min(lower.find_first_of("\"'\\ ;>/?\n", at), lower.size());
  return head.substr(at, end - at);
}

bool HasReferences(std::string_view format, std::string_view text) {
  return format == "html" || text.starts_with("<?xml");
}

// None if there is no such encoding, or the text is not of it; `references`: characters that `to`
// does not have become those.
std::optional<std::string> Convert(std::string_view text, const std::string& from,
                                   const std::string& to, bool references) {
  const iconv_t converter = iconv_open(to.c_str(), from.c_str());
  if (converter == reinterpret_cast<iconv_t>(-1)) return std::nullopt;
  std::string out;
  bool ok = true;
  const auto convert = [&](std::string_view part, size_t* done) {
    std::string copy(part);
    char* in = copy.data();
    size_t left = copy.size();
    char buffer[4096];
    while (left > 0) {
      char* end = buffer;
      size_t room = sizeof(buffer);
      const size_t result = iconv(converter, &in, &left, &end, &room);
      out.append(buffer, sizeof(buffer) - room);
      if (result == static_cast<size_t>(-1) && errno != E2BIG) break;
    }
    *done = copy.size() - left;
  };
  for (size_t at = 0; ok && at < text.size();) {
    // In steps, because each call has a copy.
    const std::string_view part = text.substr(at, size_t{64} << 10);
    const bool last = part.size() == text.size() - at;
    size_t done = 0;
    convert(part, &done);
    at += done;
    if (done == part.size() || (done > 0 && !last && part.size() - done < 8)) {
      continue;  // a character over the end of the step
    }
    ok = references;
    if (!ok) break;
    const char32_t c = NextCodePoint(text, &at);
    convert(absl::StrCat("&#", static_cast<uint32_t>(c), ";"), &done);
  }
  iconv_close(converter);
  return ok ? std::optional<std::string>(std::move(out)) : std::nullopt;
}

// As iconv has it.  Browsers read some encodings as extensions of them, which pages then use
// (https://encoding.spec.whatwg.org/#names-and-labels); and the Shift_JIS of iconv has no
// backslash.
std::string IconvName(bool extend, std::string_view declared) {
  constexpr std::pair<std::string_view, const char*> kExtended[] = {
      {"ascii", "WINDOWS-1252"},      {"big5", "BIG5-HKSCS"},       {"euc-kr", "CP949"},
      {"gb2312", "GB18030"},          {"gbk", "GB18030"},           {"iso-8859-1", "WINDOWS-1252"},
      {"iso-8859-9", "WINDOWS-1254"}, {"latin1", "WINDOWS-1252"},   {"shift_jis", "CP932"},
      {"tis-620", "CP874"},           {"us-ascii", "WINDOWS-1252"}, {"x-sjis", "CP932"}};
  const auto named = [&](const auto& row) { return IsNamed(declared, row.first); };
  const auto* const row = std::find_if(std::begin(kExtended), std::end(kExtended), named);
  if (row == std::end(kExtended)) return std::string(declared);
  const std::string extended = row->second;
  return extend || extended == "CP932" ? extended : std::string(declared);
}

// The name of UTF-16 without a mark, whose ASCII characters have a zero each, all at even or all at
// odd places; "" if it is none.
std::string UnmarkedUtf16(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, kMostHeader);
  size_t zeros[2] = {};
  for (size_t i = 0; i < head.size(); ++i) zeros[i % 2] += head[i] == '\0' ? 1 : 0;
  if (zeros[0] + zeros[1] <= head.size() / 16 || (zeros[0] > 0 && zeros[1] > 0)) return "";
  return zeros[0] > 0 ? "UTF-16BE" : "UTF-16LE";
}

// With another name in the place of the one that is declared.
std::string Declaring(std::string_view format, std::string text, const std::string& name) {
  const std::string_view declared = DeclaredIn(format, text);
  if (declared.empty()) return text;
  return text.replace(static_cast<size_t>(declared.data() - text.data()), declared.size(), name);
}

}  // namespace

absl::StatusOr<TextEncoding> DecodeText(std::string_view format, const std::string& named,
                                        std::string* bytes) {
  constexpr std::pair<std::string_view, const char*> kMarks[] = {{{"\xff\xfe\0\0", 4}, "UTF-32LE"},
                                                                 {{"\0\0\xfe\xff", 4}, "UTF-32BE"},
                                                                 {"\xff\xfe", "UTF-16LE"},
                                                                 {"\xfe\xff", "UTF-16BE"},
                                                                 {kByteOrderMark, "UTF-8"}};
  const auto marked = [&](const auto& mark) { return bytes->starts_with(mark.first); };
  const auto* const mark = std::find_if(std::begin(kMarks), std::end(kMarks), marked);
  const bool has_mark = mark != std::end(kMarks);
  TextEncoding encoding = {.mark = std::string(has_mark ? mark->first : "")};
  const std::string_view rest = std::string_view(*bytes).substr(encoding.mark.size());
  std::string name = has_mark ? mark->second : named;
  if (name.empty()) name = UnmarkedUtf16(rest);
  if (name.empty()) name = std::string(DeclaredIn(format, rest));
  if (!name.empty() && !IsAmong(absl::AsciiStrToLower(name), " utf-8 utf8 charset ")) {
    encoding.name = IconvName(format == "html" || !named.empty(), name);
    std::optional<std::string> text;
    if (name.find('/') == name.npos) text = Convert(rest, encoding.name, "UTF-8", false);
    if (text.has_value() && IsValidUtf8(*text) &&
        Convert(*text, "UTF-8", encoding.name, false) == rest) {
      encoding.declared = std::string(DeclaredIn(format, *text));
      if (IsNamed(encoding.declared, "charset")) encoding.declared = "";
      *bytes = Declaring(format, *std::move(text), "UTF-8");
      return encoding;
    }
    if (name == named) {
      return InvalidArgumentError("is not ", std::string(BeginningOf(named, 100)),
                                  ", or there is no such encoding");
    }
    encoding.name = "";
  }
  const bool latin1 = format == "properties" && !has_mark;
  if (!latin1) RETURN_IF_ERROR(CheckUtf8(*bytes));
  bytes->erase(0, encoding.mark.size());
  return encoding;
}

std::string EncodeText(std::string_view format, const TextEncoding& encoding, std::string text) {
  if (encoding.name.empty()) return encoding.mark + std::move(text);
  const std::string& declared = encoding.declared.empty() ? encoding.name : encoding.declared;
  const std::string declaring = Declaring(format, text, declared);
  std::optional<std::string> bytes =
      Convert(declaring, "UTF-8", encoding.name, HasReferences(format, declaring));
  return bytes.has_value() ? encoding.mark + *bytes : text;
}

}  // namespace dragoman
