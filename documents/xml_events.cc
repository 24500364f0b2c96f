#include "documents/xml_events.h"

#include <expat.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "documents/source_text.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

constexpr size_t kMostElementDepth = 256;
constexpr size_t kLongestReference = 100;               // bytes
constexpr size_t kBytesOfEvent = 2 * sizeof(XmlEvent);  // in a growing list
constexpr std::string_view kCdataOpening = "<![CDATA[", kCdataClosing = "]]>";

// The memory that expat takes, for example for the names of attributes, is counted where it asks
// for it.  In front of each block of it:
struct alignas(std::max_align_t) ExpatBlock {
  size_t size;
  Patience* patience;  // that knows of it; null: none
};
thread_local Patience* expat_patience = nullptr;  // of the part that this thread parses

void* ResizeExpatBlock(void* memory, size_t size) {
  ExpatBlock* block = memory == nullptr ? nullptr : static_cast<ExpatBlock*>(memory) - 1;
  Patience* const before = block == nullptr ? nullptr : block->patience;
  const size_t size_before = block == nullptr ? 0 : block->size;
  if (expat_patience != nullptr && !expat_patience->Takes(size)) return nullptr;
  block = static_cast<ExpatBlock*>(std::realloc(block, sizeof(ExpatBlock) + size));
  if (block == nullptr) return nullptr;
  if (before != nullptr) before->Returns(size_before);
  *block = {size, expat_patience};
  return block + 1;
}

void FreeExpatBlock(void* memory) {
  if (memory == nullptr) return;
  ExpatBlock* const block = static_cast<ExpatBlock*>(memory) - 1;
  if (block->patience != nullptr) block->patience->Returns(block->size);
  std::free(block);
}

constexpr XML_Memory_Handling_Suite kExpatMemory = {
    [](size_t size) { return ResizeExpatBlock(nullptr, size); }, &ResizeExpatBlock,
    &FreeExpatBlock};

// Hears what expat finds.
class XmlListener {
 public:
  XmlListener(std::string_view part, Patience* patience, XmlEntities entities)
      : part_(part), patience_(patience), checks_names_(entities == XmlEntities::kHtml) {
    XML_Parser parser = parser_.get();
    XML_SetUserData(parser, this);
    XML_SetElementHandler(parser, &Start, &End);
    XML_SetCharacterDataHandler(parser, &Text);
    XML_SetCdataSectionHandler(parser, &BeginCdata, &EndCdata);
    XML_SetCommentHandler(parser, [](void* self, const char*) { Of(self).Add(XmlEvent::kOther); });
    XML_SetProcessingInstructionHandler(
        parser, [](void* self, const char*, const char*) { Of(self).Add(XmlEvent::kOther); });
    XML_SetXmlDeclHandler(parser, &Declaration);
    XML_SetEntityDeclHandler(parser, &Entity);
    XML_SetDefaultHandler(parser, &Default);
    if (!checks_names_) return;
    // As if there were a document type elsewhere, which declares what the part does not.
    XML_UseForeignDTD(parser, XML_TRUE);
    XML_SetStartDoctypeDeclHandler(
        parser, [](void* self, const char*, const char* system, const char*, int) {
          if (system != nullptr) Of(self).checks_names_ = false;
        });
  }

  absl::StatusOr<std::vector<XmlEvent>> Read() {
    mark_ = part_.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
    const std::string_view text = part_.substr(mark_);
    if (text.size() > INT_MAX) return absl::InvalidArgumentError("is larger than 2 GiB");
    expat_patience = patience_;
    const auto status = XML_Parse(parser_.get(), text.data(), static_cast<int>(text.size()), 1);
    expat_patience = nullptr;
    if (!error_.ok()) return error_;
    if (patience_ != nullptr) RETURN_IF_ERROR(patience_->status());
    if (status == XML_STATUS_OK) return std::move(events_);
    return DamagedLine(Line(), absl::StrCat("is not well-formed XML: ",
                                            XML_ErrorString(XML_GetErrorCode(parser_.get()))));
  }

 private:
  static XmlListener& Of(void* self) { return *static_cast<XmlListener*>(self); }
  static void Start(void* self, const char* name, const char** attributes);
  static void End(void* self, const char* name);
  static void Text(void* self, const char* text, int size);
  static void BeginCdata(void* self);
  static void EndCdata(void* self);
  static void Declaration(void* self, const char* version, const char* encoding, int standalone);
  static void Entity(void* self, const char* name, int is_parameter, const char* value, int size,
                     const char* base, const char* system, const char* pub, const char* notation);
  static void Default(void* self, const char* text, int size);

  int Line() const { return static_cast<int>(XML_GetCurrentLineNumber(parser_.get())); }
  size_t Place() const {
    return static_cast<size_t>(XML_GetCurrentByteIndex(parser_.get())) + mark_;
  }
  size_t PlaceBehind() const {
    return Place() + static_cast<size_t>(XML_GetCurrentByteCount(parser_.get()));
  }
  void Pass(size_t bytes) {
    if (patience_ == nullptr || patience_->Lasts(bytes)) return;
    if (error_.ok()) error_ = patience_->status();
    XML_StopParser(parser_.get(), XML_FALSE);
  }
  XmlEvent& Add(XmlEvent::Kind kind) {
    if (patience_ != nullptr) patience_->Takes(kBytesOfEvent);
    Pass(sizeof(XmlEvent));
    events_.push_back({.kind = kind, .line = Line(), .begin = Place(), .end = PlaceBehind()});
    return events_.back();
  }
  // HTML's are known by their names, unless the part declares some.
  void CheckNames(std::string_view text) {
    for (size_t at = text.find('&'); checks_names_ && at != text.npos;
         at = text.find('&', at + 1)) {
      const std::string_view reference = text.substr(at, text.find(';', at) - at + 1);
      if (!CharactersNamed(reference).empty() || reference.starts_with("&#")) continue;
      return Fail(absl::StrCat("refers to ", std::string(reference), ", which is not defined"));
    }
  }
  void Fail(const std::string& what) {
    if (error_.ok()) error_ = DamagedLine(Line(), what);
    XML_StopParser(parser_.get(), XML_FALSE);
  }

  const std::string_view part_;
  Patience* const patience_;
  // Its encoding overrides what the document says, which Declaration() checks.
  const std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser_{
      XML_ParserCreate_MM("UTF-8", &kExpatMemory, nullptr), &XML_ParserFree};
  bool checks_names_;         // of entities
  size_t mark_ = 0;           // the size of the byte order mark
  std::vector<size_t> open_;  // events
  bool in_cdata_ = false;
  std::vector<XmlEvent> events_;
  absl::Status error_;
};

// The name that a tag begins with, after `skipped` bytes.
std::string_view NameIn(std::string_view tag, size_t skipped) {
  tag.remove_prefix(skipped);
  return tag.substr(0, tag.find_first_of(" \t\r\n/>"));
}

void XmlListener::Start(void* self, const char*, const char**) {
  XmlListener& listener = Of(self);
  if (listener.open_.size() == kMostElementDepth) {
    return listener.Fail(absl::StrCat("elements are nested deeper than ", kMostElementDepth));
  }
  listener.open_.push_back(listener.events_.size());
  XmlEvent& event = listener.Add(XmlEvent::kStart);
  const std::string_view tag = listener.part_.substr(event.begin, event.end - event.begin);
  event.name = NameIn(tag, 1);
  listener.CheckNames(tag);
}

void XmlListener::End(void* self, const char*) {
  XmlListener& listener = Of(self);
  const size_t start = listener.open_.back();
  listener.open_.pop_back();
  XmlEvent& event = listener.Add(XmlEvent::kEnd);
  event.name = listener.events_[start].name;
  event.partner = start;
  listener.events_[start].partner = listener.events_.size() - 1;
}

void XmlListener::Text(void* self, const char*, int size) {
  XmlListener& listener = Of(self);
  listener.Pass(static_cast<size_t>(size));
  if (listener.in_cdata_) return;
  std::vector<XmlEvent>& events = listener.events_;
  if (!events.empty() && events.back().kind == XmlEvent::kText &&
      events.back().end == listener.Place()) {
    events.back().end = listener.PlaceBehind();
  } else {
    listener.Add(XmlEvent::kText);
  }
}

void XmlListener::BeginCdata(void* self) {
  Of(self).Add(XmlEvent::kCdata);
  Of(self).in_cdata_ = true;
}

void XmlListener::EndCdata(void* self) {
  Of(self).events_.back().end = Of(self).PlaceBehind();
  Of(self).in_cdata_ = false;
}

void XmlListener::Declaration(void* self, const char*, const char* encoding, int) {
  Of(self).Add(XmlEvent::kOther);
  if (encoding == nullptr || IsNamed(encoding, "utf-8") || IsNamed(encoding, "utf8")) return;
  Of(self).Fail(absl::StrCat("is encoded in ", encoding, ", want UTF-8"));
}

// An entity of the document itself is never expanded: its references stay what they are.
void XmlListener::Entity(void* self, const char* name, int is_parameter, const char* value, int,
                         const char*, const char*, const char*, const char*) {
  if (value != nullptr && is_parameter == 0) {
    Of(self).checks_names_ = false;
    return;
  }
  Of(self).Fail(absl::StrCat("declares the ", is_parameter != 0 ? "parameter" : "external",
                             " entity \"", name, "\", want none"));
}

// What has no handler of its own.
void XmlListener::Default(void* self, const char* text, int size) {
  const std::string_view reference(text, static_cast<size_t>(size));
  if (Of(self).open_.empty() || Of(self).in_cdata_) return;
  if (!reference.starts_with('&') || !reference.ends_with(';')) return;
  Of(self).CheckNames(reference);
  Of(self).Add(XmlEvent::kReference);
}

// Appends the characters of a reference, such as "#xe9" or "amp".
void AppendReference(std::string_view name, std::string* out) {
  static constexpr std::pair<std::string_view, char> kOwn[] = {
      {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
  for (const auto& [own, character] : kOwn) {
    if (name == own) return out->push_back(character);
  }
  const bool hexadecimal = name.starts_with("#x");
  const std::string_view digits = name.substr(std::min<size_t>(hexadecimal ? 2 : 1, name.size()));
  if (const auto code = ParseCode(digits, hexadecimal ? 16 : 10); name.starts_with('#') && code) {
    return AppendUtf8(*code, out);
  }
  absl::StrAppend(out, "&", std::string(name), ";");
}

std::string Escape(std::string_view text, bool attribute) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (attribute && c == '"') {
      out += "&quot;";
    } else if (attribute && c == '\'') {
      out += "&apos;";
    } else if (attribute && (c == '\n' || c == '\t' || c == '\r')) {
      absl::StrAppend(&out, "&#", static_cast<int>(c), ";");
    } else if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t') {
      out += c;  // XML cannot write the other control characters
    }
  }
  return out;
}

}  // namespace

absl::StatusOr<std::vector<XmlEvent>> ReadXmlEvents(std::string_view part, Patience* patience,
                                                    XmlEntities entities) {
  return XmlListener(part, patience, entities).Read();
}

std::vector<XmlAttribute> XmlAttributes(std::string_view tag) {
  std::vector<XmlAttribute> attributes;
  tag.remove_prefix(std::min(tag.find_first_of(kXmlSpaces), tag.size()));
  while (true) {
    tag.remove_prefix(std::min(tag.find_first_not_of(kXmlSpaces), tag.size()));
    const size_t name = tag.find_first_of(" \t\r\n=");
    const size_t quote = tag.find_first_of("\"'");
    if (name == tag.npos || quote == tag.npos || name > quote) return attributes;
    const size_t close = tag.find(tag[quote], quote + 1);
    if (close == tag.npos) return attributes;
    attributes.push_back({tag.substr(0, name), tag.substr(quote + 1, close - quote - 1)});
    tag.remove_prefix(close + 1);
  }
}

std::string XmlAttributeOr(std::string_view tag, std::string_view name, std::string_view missing) {
  for (const XmlAttribute& attribute : XmlAttributes(tag)) {
    if (attribute.name == name) return XmlText(attribute.value);
  }
  return std::string(missing);
}

std::string XmlText(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  while (true) {
    const size_t plain = std::min(raw.find_first_of("&<\r"), raw.size());
    out += raw.substr(0, plain);
    raw.remove_prefix(plain);
    if (raw.empty()) return out;
    const size_t semicolon = raw.substr(0, kLongestReference).find(';');
    if (raw.starts_with(kCdataOpening)) {
      const size_t close = raw.find(kCdataClosing);
      const size_t end = std::min(close, raw.size());
      out += raw.substr(kCdataOpening.size(), end - kCdataOpening.size());
      raw.remove_prefix(std::min(end + kCdataClosing.size(), raw.size()));
    } else if (raw[0] == '&' && semicolon != raw.npos) {
      AppendReference(raw.substr(1, semicolon - 1), &out);
      raw.remove_prefix(semicolon + 1);
    } else {
      const bool pair = raw.starts_with("\r\n");
      out += raw[0] == '\r' ? '\n' : raw[0];
      raw.remove_prefix(pair ? 2 : 1);
    }
  }
}

std::string EscapeXml(std::string_view text) { return Escape(text, false); }
std::string EscapeXmlAttribute(std::string_view text) { return Escape(text, true); }

std::string_view LocalXmlName(std::string_view name) {
  const size_t colon = name.rfind(':');
  return colon == name.npos ? name : name.substr(colon + 1);
}

}  // namespace dragoman
