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
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

constexpr size_t kMostHeader = 4096;  // bytes in which a file declares its encoding

// Where the name of the encoding stands that a text declares; empty: nowhere.
std::string_view DeclaredIn(std::string_view format, std::string_view text) {
  std::string_view head = text.substr(0, kMostHeader);
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  std::string lower(head);
  absl::AsciiStrToLower(&lower);
  size_t at = lower.npos;
  if (lower.starts_with("<?xml")) {
    at = lower.substr(0, lower.find("?>")).find("encoding=");
    if (at != lower.npos) at += 9;
  } else if (format == "html" || format == "po") {
    const size_t begin = lower.find(format == "html" ? "<meta" : "content-type:");
    at = begin == lower.npos ? begin : lower.find("charset=", begin);
    if (at != lower.npos) at += 8;
  }
  if (at == lower.npos) return text.substr(text.size());
  at += lower.substr(at, 1).find_first_of("\"'") == 0;
  const size_t end = std::min(lower.find_first_of("\"'\\ ;>/?\n", at), lower.size());
  return head.substr(at, end - at);
}

bool HasReferences(std::string_view format, std::string_view text) {
  return format == "html" || text.substr(0, kByteOrderMark.size() + 5).find("<?xml") != text.npos;
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

// Browsers read this one as its extension of Windows.
std::string IconvName(std::string_view format, std::string_view declared) {
  const bool latin = IsNamed(declared, "iso-8859-1") || IsNamed(declared, "latin1");
  return format == "html" && latin ? "WINDOWS-1252" : std::string(declared);
}

// With another name in the place of the one that is declared.
std::string Declaring(std::string_view format, std::string text, const std::string& name) {
  const std::string_view declared = DeclaredIn(format, text);
  if (declared.empty()) return text;
  return text.replace(static_cast<size_t>(declared.data() - text.data()), declared.size(), name);
}

}  // namespace

TextEncoding DecodeText(std::string_view format, std::string* bytes) {
  TextEncoding encoding;
  constexpr std::pair<std::string_view, const char*> kMarks[] = {
      {{"\xff\xfe\0\0", 4}, "UTF-32LE"}, {{"\0\0\xfe\xff", 4}, "UTF-32BE"},
      {"\xff\xfe", "UTF-16LE"},           {"\xfe\xff", "UTF-16BE"}};
  const auto marked = [&](const auto& mark) { return bytes->starts_with(mark.first); };
  const auto* const mark = std::find_if(std::begin(kMarks), std::end(kMarks), marked);
  if (mark != std::end(kMarks)) encoding.name = mark->second;
  if (encoding.name.empty()) {
    const std::string_view declared = DeclaredIn(format, *bytes);
    const bool utf8 = IsNamed(declared, "utf-8") || IsNamed(declared, "utf8");
    if (declared.empty() || utf8 || IsNamed(declared, "charset")) return {};
    encoding.name = IconvName(format, declared);
  }
  std::optional<std::string> text = Convert(*bytes, encoding.name, "UTF-8", false);
  if (!text.has_value() || !IsValidUtf8(*text)) return {};
  const std::optional<std::string> back = Convert(*text, "UTF-8", encoding.name, false);
  if (back != *bytes) return {};
  encoding.declared = std::string(DeclaredIn(format, *text));
  *bytes = Declaring(format, *std::move(text), "UTF-8");
  return encoding;
}

std::string EncodeText(std::string_view format, const TextEncoding& encoding, std::string text) {
  if (encoding.name.empty()) return text;
  const std::string declaring = Declaring(format, text, encoding.declared);
  std::optional<std::string> bytes =
      Convert(declaring, "UTF-8", encoding.name, HasReferences(format, declaring));
  return bytes.has_value() ? *std::move(bytes) : text;
}

}  // namespace dragoman
