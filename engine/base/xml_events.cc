// Text that is no document is parsed between the tags of an element <r>, which it must not close.

#include "engine/base/xml_events.h"

#include <expat.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/base/html_references.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

constexpr size_t kMostElementDepth = 256;
constexpr size_t kLongestReference = 100;               // bytes
constexpr size_t kBytesOfEvent = 2 * sizeof(XmlEvent);  // in a growing list
constexpr std::string_view kCdataOpening = "<![CDATA[", kCdataClosing = "]]>";
constexpr std::string_view kOpening = "<r>", kClosing = "</r>";  // around text
constexpr char kIllFormed[] = "is not well-formed XML: ";

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

// Whether a text begins with a prolog, after comments and the like.
bool IsDocument(std::string_view text) {
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kXmlSpaces), text.size()));
    if (text.starts_with("<!DOCTYPE") || text.starts_with("<?xml ")) return true;
    const bool comment = text.starts_with("<!--");
    if (!comment && !text.starts_with("<?")) return false;
    const std::string_view close = comment ? "-->" : "?>";
    const size_t end = text.find(close);
    if (end == text.npos) return false;
    text.remove_prefix(end + close.size());
  }
}

// The name that a tag begins with, after `skipped` bytes.
std::string_view NameIn(std::string_view tag, size_t skipped) {
  tag.remove_prefix(skipped);
  return tag.substr(0, tag.find_first_of(" \t\r\n/>"));
}

// Hears what expat finds.
class XmlListener {
 public:
  XmlListener(std::string_view part, Patience* patience, XmlKind kind, const HearAttributes& hear)
      : part_(part),
        patience_(patience),
        kind_(kind),
        hear_(hear),
        checks_names_(kind == XmlKind::kXhtml) {
    XML_Parser parser = parser_.get();
    XML_SetUserData(parser, this);
    XML_SetElementHandler(parser, &Start, &End);
    XML_SetCharacterDataHandler(parser, &Text);
    XML_SetCdataSectionHandler(parser, &BeginCdata, &EndCdata);
    XML_SetCommentHandler(parser, [](void* self, const char*) { Of(self).Add(XmlEvent::kOther); });
    XML_SetProcessingInstructionHandler(
        parser, [](void* self, const char*, const char*) { Of(self).Add(XmlEvent::kOther); });
    // Without expansion: a reference to an entity of the document stays one.
    XML_SetDefaultHandler(parser, &Default);
    if (kind == XmlKind::kText) return;
    XML_SetXmlDeclHandler(parser, &Declaration);
    XML_SetEntityDeclHandler(parser, &Entity);
    if (!checks_names_) return;
    // As if there were a document type elsewhere, which declares what the part does not.
    XML_UseForeignDTD(parser, XML_TRUE);
    XML_SetStartDoctypeDeclHandler(
        parser, [](void* self, const char*, const char* system, const char*, int) {
          if (system != nullptr) Of(self).checks_names_ = false;
        });
  }

  absl::StatusOr<std::vector<XmlEvent>> Read() {
    first_ = part_.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
    const std::string_view text = part_.substr(first_);
    if (text.size() > INT_MAX) return absl::InvalidArgumentError("is larger than 2 GiB");
    const bool whole = kind_ != XmlKind::kText || IsDocument(text);
    added_ = whole ? 0 : kOpening.size();
    expat_patience = patience_;
    const bool read = whole ? Parse(text, true)
                            : Parse(kOpening, false) && Parse(text, false) && Parse(kClosing, true);
    expat_patience = nullptr;
    if (!error_.ok()) return error_;
    if (patience_ != nullptr) RETURN_IF_ERROR(patience_->status());
    if (read) return std::move(events_);
    return Damaged(XML_ErrorString(XML_GetErrorCode(parser_.get())), kIllFormed);
  }

 private:
  static XmlListener& Of(void* self) { return *static_cast<XmlListener*>(self); }

  static void Start(void* self, const char*, const char** attributes) {
    XmlListener& listener = Of(self);
    if (listener.IsAdded()) return;
    if (listener.open_.size() == kMostElementDepth) {
      return listener.Fail(absl::StrCat("elements are nested deeper than ", kMostElementDepth));
    }
    if (listener.hear_ != nullptr) listener.hear_(listener.events_.size(), attributes);
    listener.open_.push_back(listener.events_.size());
    XmlEvent& event = listener.Add(XmlEvent::kStart);
    const std::string_view tag = listener.part_.substr(event.begin, event.end - event.begin);
    event.name = NameIn(tag, 1);
    listener.CheckNames(tag);
  }

  static void End(void* self, const char*) {
    XmlListener& listener = Of(self);
    if (listener.open_.empty()) {
      if (!listener.IsAdded()) listener.Fail("mismatched tag");
      return;
    }
    const size_t start = listener.open_.back();
    listener.open_.pop_back();
    XmlEvent& event = listener.Add(XmlEvent::kEnd);
    event.name = listener.events_[start].name;
    event.partner = start;
    listener.events_[start].partner = listener.events_.size() - 1;
  }

  static void Text(void* self, const char*, int size) {
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

  static void BeginCdata(void* self) {
    Of(self).Add(XmlEvent::kCdata);
    Of(self).in_cdata_ = true;
  }

  static void EndCdata(void* self) {
    Of(self).events_.back().end = Of(self).PlaceBehind();
    Of(self).in_cdata_ = false;
  }

  static void Declaration(void* self, const char*, const char* encoding, int) {
    Of(self).Add(XmlEvent::kOther);
    if (encoding == nullptr || absl::EqualsIgnoreCase(encoding, "utf-8") ||
        absl::EqualsIgnoreCase(encoding, "utf8")) {
      return;
    }
    Of(self).Fail(absl::StrCat("is encoded in ", encoding, ", want UTF-8"));
  }

  // An entity of the document itself is never expanded: its references stay what they are.
  static void Entity(void* self, const char* name, int is_parameter, const char* value, int,
                     const char*, const char*, const char*, const char*) {
    if (value != nullptr && is_parameter == 0) {
      Of(self).checks_names_ = false;
      return;
    }
    Of(self).Fail(absl::StrCat("declares the ", is_parameter != 0 ? "parameter" : "external",
                               " entity \"", name, "\", want none"));
  }

  // What has no handler of its own.
  static void Default(void* self, const char* text, int size) {
    const std::string_view reference(text, static_cast<size_t>(size));
    if (Of(self).open_.empty() || Of(self).in_cdata_) return;
    if (!reference.starts_with('&') || !reference.ends_with(';')) return;
    Of(self).CheckNames(reference);
    Of(self).Add(XmlEvent::kReference);
  }

  bool Parse(std::string_view piece, bool last) {
    const int size = static_cast<int>(piece.size());
    return XML_Parse(parser_.get(), piece.data(), size, last ? 1 : 0) == XML_STATUS_OK;
  }
  absl::Status Damaged(std::string_view what, const char* ill_formed) const {
    const std::string why(what);
    if (kind_ != XmlKind::kText) {
      return InvalidArgumentError("line ", Line(), ": ", ill_formed, why);
    }
    const std::string_view before = part_.substr(0, Place());
    const auto line = 1 + absl::c_count(before, '\n');
    const size_t line_begin = before.rfind('\n') + 1;  // 0 if there is none
    return InvalidArgumentError(kIllFormed, "line ", line, ", column ",
                                before.size() - line_begin + 1, ": ", why);
  }
  int Line() const { return static_cast<int>(XML_GetCurrentLineNumber(parser_.get())); }
  // Whether that is of the tags around a text.
  bool IsAdded() const { return Index() < added_ || Index() - added_ + first_ >= part_.size(); }
  size_t Index() const { return static_cast<size_t>(XML_GetCurrentByteIndex(parser_.get())); }
  // A byte of the part.
  size_t PlaceOf(size_t index) const {
    return std::min(index < added_ ? 0 : index - added_ + first_, part_.size());
  }
  size_t Place() const { return PlaceOf(Index()); }
  size_t PlaceBehind() const {
    return PlaceOf(Index() + static_cast<size_t>(XML_GetCurrentByteCount(parser_.get())));
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
    if (error_.ok()) error_ = Damaged(what, "");
    XML_StopParser(parser_.get(), XML_FALSE);
  }

  const std::string_view part_;
  Patience* const patience_;
  const XmlKind kind_;
  const HearAttributes& hear_;
  // Its encoding overrides what the document says, which Declaration() checks.
  const std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser_{
      XML_ParserCreate_MM("UTF-8", &kExpatMemory, nullptr), &XML_ParserFree};
  bool checks_names_;         // of entities
  size_t first_ = 0;          // byte of the part, after its byte order mark
  size_t added_ = 0;          // bytes that expat reads before it
  std::vector<size_t> open_;  // events
  bool in_cdata_ = false;
  std::vector<XmlEvent> events_;
  absl::Status error_;
};

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
                                                    XmlKind kind, const HearAttributes& hear) {
  return XmlListener(part, patience, kind, hear).Read();
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
