#include "documents/text_formats.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "documents/source_text.h"

namespace dragoman {
namespace {

constexpr size_t kBytesOfFormat = 2 * sizeof(TextFormat) + 128;

// What a word processor notes of text that nobody sees.
constexpr std::string_view kUnseen =
    " altLang asian bmk complex country dirty err lang language noProof paragraph-rsid proofErr "
    "rsid "
    "smtClean smtId country-asian country-complex language-asian language-complex ";

constexpr std::string_view kCodeStyles =
    " Code CodeBlock HTMLCode HTMLPreformatted Preformatted_20_Text PreformattedText SourceCode "
    "SourceText Teletype Source_20_Text VerbatimChar HTMLKeyboard HTMLSample ";

// What of <w:rPr> is seen.
std::string KeyOfProperties(std::string_view properties, bool* code, Patience* patience) {
  std::string key;
  const size_t taken = patience->taken();
  const absl::StatusOr<std::vector<XmlEvent>> events = ReadXmlEvents(properties, patience);
  patience->ReturnTo(taken);  // soon
  if (!events.ok())
    return std::string(properties);  // with names whose prefixes it does not declare
  const auto bytes = [&](const XmlEvent& e) { return properties.substr(e.begin, e.end - e.begin); };
  for (size_t i = 0; i < events->size(); ++i) {
    const XmlEvent& event = (*events)[i];
    if (event.kind != XmlEvent::kStart) continue;
    const std::string_view name = LocalXmlName(event.name);
    if (i == 0) {
      for (const XmlAttribute& attribute : XmlAttributes(bytes(event))) {
        if (IsAmong(LocalXmlName(attribute.name), kUnseen)) continue;
        key.append(attribute.name).append("=").append(attribute.value).append(" ");
      }
      continue;
    }
    const size_t end = (*events)[event.partner].end;
    if (name == "rStyle" && IsAmong(AttributeNamed(bytes(event), "val"), kCodeStyles)) *code = true;
    if (!IsAmong(name, kUnseen)) key += properties.substr(event.begin, end - event.begin);
    i = event.partner;
  }
  return key;
}

void AddTextTag(const std::string& name, bool drawing, TextFormat* format) {
  format->before_text = absl::StrCat("<", name, drawing ? ">" : " xml:space=\"preserve\">");
  format->after_text = absl::StrCat("</", name, ">");
}

}  // namespace

std::string AttributeNamed(std::string_view tag, std::string_view name) {
  for (const XmlAttribute& attribute : XmlAttributes(tag)) {
    if (LocalXmlName(attribute.name) == name) return XmlText(attribute.value);
  }
  return "";
}

void TextFormats::AddStyle(absl::Span<const XmlEvent> events, size_t i) {
  const std::string_view tag = Tag(events[i]);
  Style style;
  const std::string parent = AttributeNamed(tag, "parent-style-name");
  style.code = IsAmong(parent, kCodeStyles);
  if (!parent.empty()) absl::StrAppend(&style.key, parent, "\n");
  for (size_t child = i + 1; child < events[i].partner; ++child) {
    if (events[child].kind == XmlEvent::kText || events[child].kind == XmlEvent::kEnd) continue;
    const bool element = events[child].kind == XmlEvent::kStart;
    if (!element || LocalXmlName(events[child].name) != "text-properties") {
      style.key.append(Tag(events[child]));
      continue;
    }
    for (const XmlAttribute& attribute : XmlAttributes(Tag(events[child]))) {
      if (IsAmong(LocalXmlName(attribute.name), kUnseen)) continue;
      style.key.append(attribute.name).append("=").append(attribute.value).append(" ");
    }
  }
  patience_->Takes(kBytesOfFormat + 2 * style.key.size());
  styles_[absl::StrCat(AttributeNamed(tag, "family"), " ", AttributeNamed(tag, "name"))] = style;
}

TextFormats::Style TextFormats::StyleOf(std::string_view tag, std::string_view family) const {
  const std::string name = AttributeNamed(tag, "style-name");
  const auto style = styles_.find(absl::StrCat(std::string(family), " ", name));
  if (style != styles_.end()) return style->second;
  return {.key = name, .code = IsAmong(name, kCodeStyles)};
}

bool TextFormats::IsTranslated(absl::Span<const XmlEvent> events, size_t i) const {
  if (kind_ == XmlVocabulary::kOpenDocument) return !StyleOf(Tag(events[i]), "paragraph").code;
  if (kind_ != XmlVocabulary::kOffice) return true;
  // <w:p><w:pPr><w:pStyle w:val="Code"/>
  const size_t last = std::min(i + 4, events[i].partner);
  for (size_t child = i + 1; child < last; ++child) {
    if (LocalXmlName(events[child].name) == "pStyle") {
      return !IsAmong(AttributeNamed(Tag(events[child]), "val"), kCodeStyles);
    }
  }
  return true;
}

// For formats_, whose name for it is about as long as what it opens.
FormatPointer TextFormats::Keep(TextFormat format) {
  patience_->Takes(kBytesOfFormat + format.key.size() + 2 * format.open.size() +
                   format.close.size());
  return std::make_shared<const TextFormat>(std::move(format));
}

FormatPointer TextFormats::OfRun(const OfficeRun& run) {
  TextFormat format;
  const std::string name(run.tag);
  format.open = absl::StrCat("<", name, ">", std::string(run.format));
  // A run and its text have the same prefix: <w:r>, <w:t>.
  AddTextTag(name.substr(0, name.size() - 1) + "t", run.drawing, &format);
  FormatPointer& known = formats_[format.open + format.before_text];
  if (known != nullptr) return known;
  format.close = absl::StrCat("</", name, ">");
  bool code = false;
  format.key = run.format.empty() ? "" : KeyOfProperties(run.format, &code, patience_);
  format.translated = !code;
  return known = Keep(std::move(format));
}

FormatPointer TextFormats::OfText(std::string_view tag, bool drawing) {
  TextFormat format;
  AddTextTag(std::string(tag), drawing, &format);
  FormatPointer& known = formats_[format.before_text];
  if (known == nullptr) known = Keep(std::move(format));
  return known;
}

FormatPointer TextFormats::Within(const FormatPointer& outer, absl::Span<const XmlEvent> events,
                                  size_t i, bool code) {
  const std::string_view tag = Tag(events[i]);
  const Style style = StyleOf(tag, "text");
  if (style.key.empty() && !code) return outer;
  TextFormat format;
  if (outer != nullptr) format = *outer;
  format.open.append(tag);
  ++format.depth;
  FormatPointer& known = formats_[format.open];
  if (known != nullptr) return known;
  format.key += style.key + "\n";
  format.close = absl::StrCat("</", std::string(events[i].name), ">", format.close);
  if (code || style.code) format.translated = false;
  return known = Keep(std::move(format));
}

bool IsXhtmlTranslated(std::string_view tag, bool inherited) {
  if (tag.find("translate") == tag.npos) return inherited;
  const std::string translate = AttributeNamed(tag, "translate");
  if (translate == "no") return false;
  if (AttributeNamed(tag, "class").find("notranslate") != std::string::npos) return false;
  return translate == "yes" || inherited;
}

}  // namespace dragoman
