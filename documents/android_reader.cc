// Android's strings.xml: <string>, and the items of <plurals> and <string-array>.
//
//   <string name="hello">Don\'t <b>wait</b>, <xliff:g id="n">%1$s</xliff:g>!</string>
//
// translatable="false", references ("@string/other") and what is in <xliff:g> are kept.  A text in
// CDATA is HTML.

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "documents/inline_text.h"
#include "documents/passage_list.h"
#include "documents/readers.h"
#include "documents/source_text.h"
#include "documents/xml_inline.h"
#include "engine/base/patience.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "engine/base/xml_events.h"

namespace dragoman {
namespace {

constexpr size_t kCdataOpeningBytes = 9, kCdataClosingBytes = 3;  // bytes

XmlRole AndroidRole(std::string_view name, std::string_view tag) {
  const bool kept = name == "g" || XmlAttributeOr(tag, "translatable") == "false";
  return kept ? XmlRole::kCopied : XmlRole::kMark;
}

// Stands for the escape "\n" in HTML, where a line break is a space.
constexpr std::string_view kHtmlBreak = "<br class=\"n\">";

// Resolves the escapes of resources: \' \" \n \t \@ \? \\ \u00e9.  Quotes alone are not part of it,
// but in HTML.
std::string Unescape(std::string_view text, bool html) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"' && !html) continue;
    if (text[at] != '\\' || at + 1 == text.size()) {
      out += text[at];
      continue;
    }
    const char c = text[++at];
    const auto code = c == 'u' ? ParseCode(text.substr(at + 1, 4), 16) : std::nullopt;
    if (code.has_value()) {
      AppendUtf8(*code, &out);
      at += text.substr(at + 1, 4).size();
    } else if (c == 'u') {
      out += "\\u";  // not an escape
    } else if (c == 'n' && html) {
      out += kHtmlBreak;
    } else {
      out += c == 'n' ? '\n' : c == 't' ? '\t' : c;
    }
  }
  return out;
}

std::string ReadEscapes(std::string_view text) { return Unescape(text, false); }

std::string SpellEscapes(std::string_view text) {
  std::string out = absl::StrReplaceAll(
      std::string(text),
      {{"\\", "\\\\"}, {"'", "\\'"}, {"\"", "\\\""}, {"\n", "\\n"}, {"\t", "\\t"}});
  if (out.starts_with('@') || out.starts_with('?')) out.insert(0, "\\");
  return out;
}

constexpr XmlContent kAndroidContent = {
    .role = &AndroidRole, .collapse = true, .read = &ReadEscapes};

constexpr XmlContent kQuotedContent = {.role = &AndroidRole, .read = &ReadEscapes};

// Whether the value stands in quotes, between which white space counts.
bool IsQuoted(std::string_view value) {
  if (value.size() < 2 || value[0] != '"' || !value.ends_with('"')) return false;
  size_t at = 1;
  for (; at < value.size() && value[at] != '"'; ++at) at += value[at] == '\\';
  return at + 1 == value.size();
}

// The bytes of white space that a value begins with, or ends with: escapes and spaces.
size_t EndSize(std::string_view value, bool front) {
  for (const std::string_view end : {"\\n", "\\t", "\\u0020", "\\u00a0", "\\u00A0", " "}) {
    if (front ? value.starts_with(end) : value.ends_with(end)) return end.size();
  }
  return 0;
}
std::string_view CoreOf(std::string_view value) {
  while (const size_t size = EndSize(value, true)) value.remove_prefix(size);
  while (const size_t size = EndSize(value, false)) {
    const std::string_view rest = value.substr(0, value.size() - size);
    if (rest.ends_with('\\')) break;  // in front of "n", two of them are one
    value = rest;
  }
  return value;
}

// The passage with the quotes and white space that are the ends of `value`.
Passage WithEnds(std::string_view value, Passage passage) {
  const bool quoted = IsQuoted(value);
  const std::string_view core = CoreOf(quoted ? value.substr(1, value.size() - 2) : value);
  if (core.empty()) return passage;
  const auto size = static_cast<size_t>(core.data() - value.data());
  passage.write = [write = std::move(passage.write), before = std::string(value.substr(0, size)),
                   after = std::string(value.substr(size + core.size()))](auto translation) {
    const std::string written = write(translation);
    return absl::StrCat(before, std::string(CoreOf(written)), after);
  };
  return passage;
}

// The event that is all that the element has besides white space, if that is CDATA; 0 if not.
size_t OnlyCdata(std::string_view part, const std::vector<XmlEvent>& events, size_t start) {
  for (size_t i = start + 1; i < events[start].partner; ++i) {
    if (events[i].kind != XmlEvent::kCdata) continue;
    const bool alone = IsBlankXml(part, events, start + 1, i) &&
                       IsBlankXml(part, events, i + 1, events[start].partner);
    return alone ? i : 0;
  }
  return 0;
}

Passage CdataPassage(std::string_view part, const XmlEvent& event) {
  const size_t begin = event.begin + kCdataOpeningBytes, end = event.end - kCdataClosingBytes;
  const std::string_view raw = part.substr(begin, end - begin);
  // Many files do not escape the quotes of HTML.
  const bool escaped = raw.find("\\\"") != raw.npos;
  const auto spell = [escaped](std::string_view translation) {
    const std::string out =
        absl::StrReplaceAll(std::string(translation), {{kHtmlBreak.data(), "\\n"},
                                                       {"\\", "\\\\"},
                                                       {"'", "\\'"},
                                                       {"\"", "\\\""},
                                                       {"]]>", "]]]]><![CDATA[>"}});
    return escaped ? out : absl::StrReplaceAll(out, {{"\\\"", "\""}});
  };
  Passage passage = PlainPassage(begin, end, event.line, Unescape(raw, true), spell);
  passage.markup = PassageMarkup::kHtml;
  return passage;
}

}  // namespace

Passages ReadAndroid(std::string_view part, const DocumentOptions& options) {
  Patience patience(options);
  ASSIGN_OR_RETURN(const std::vector<XmlEvent> events, ReadXmlEvents(part, &patience));
  PassageList passages(&patience);
  std::string_view parent;
  for (size_t i = 0; i < events.size(); ++i) {
    if (!patience.Lasts(sizeof(XmlEvent))) return patience.status();
    const XmlEvent& event = events[i];
    if (event.kind != XmlEvent::kStart) continue;
    if (XmlAttributeOr(XmlBytes(part, event), "translatable") == "false") {
      i = event.partner;
      continue;
    }
    const bool item = event.name == "item" && (parent == "plurals" || parent == "string-array");
    if (event.name != "string" && !item) {
      // An <item> of a style or of an array of numbers is no text.
      if (event.name != "item") parent = event.name;
      continue;
    }
    const size_t start = i;
    i = event.partner;
    const std::string_view bytes =
        StripWhiteSpace(part.substr(event.end, events[i].begin - event.end));
    if (bytes.empty() || bytes[0] == '@' || bytes[0] == '?') continue;
    if (const size_t cdata = OnlyCdata(part, events, start); cdata > 0) {
      Passage passage = CdataPassage(part, events[cdata]);
      if (HasWords(passage.text)) passages.Add(std::move(passage));
      continue;
    }
    std::optional<Passage> passage = XmlPassage(
        part, events, start + 1, i, IsQuoted(bytes) ? kQuotedContent : kAndroidContent,
        [](std::string_view text) { return EscapeXml(SpellEscapes(text)); }, &patience);
    if (passage.has_value()) passages.Add(WithEnds(bytes, *std::move(passage)));
  }
  return passages.Take();
}

}  // namespace dragoman
