// Expat finds what is well-formed and where each thing begins and ends, the Listener keeps a list
// of it, and the XmlTeller tells it to a builder.  Two passes, because whether an element stands
// next to text is known only after the end of its parent.
//
// A fragment is parsed between the tags of an element <r>, which it must not close.  A text that
// begins with a prolog is a document, parsed as it is.

#include "engine/text/xml_reader.h"

#include <expat.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

constexpr int kMostDepth = 256;  // of elements
constexpr std::string_view kOpening = "<r>", kClosing = "</r>";

struct Element {
  std::string name;
  int parent = -1;
  bool has_text = false;       // between its tags and those of its children
  bool has_exception = false;  // an element inside of it says translate="yes"
  bool translated = true;
  bool keeps_space = false;
  size_t end = 0;  // its event
};

struct Event {
  enum Kind { kStart, kEnd, kText, kReference, kUnparsed, kOther } kind;
  TextSpan raw;
  int element = 0;   // that begins or ends, or that it is in
  std::string text;  // of kReference and kUnparsed
};

struct Outline {
  std::vector<Element> elements;  // the first one is around everything
  std::vector<Event> events;
};

absl::Status ErrorAt(std::string_view raw, size_t place, std::string_view what) {
  const std::string_view before = raw.substr(0, place);
  const size_t line_begin = before.rfind('\n') + 1;  // 0 if there is none
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  return absl::InvalidArgumentError(absl::StrCat("is not well-formed XML: line ", line, ", column ",
                                                 before.size() - line_begin + 1, ": ",
                                                 std::string(what)));
}

// Hears what expat finds in `raw` from byte `first` on; byte i of what expat reads is byte
// i + offset of it.
class Listener {
 public:
  Listener(std::string_view raw, std::ptrdiff_t first, std::ptrdiff_t offset,
           const MarkupOptions& options)
      : raw_(raw), first_(first), offset_(offset), options_(options) {
    outline_.elements.emplace_back();
    open_.push_back(0);
    parser_.reset(XML_ParserCreate("UTF-8"));
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(parser_.get(), &Start, &End);
    XML_SetCharacterDataHandler(parser_.get(), &Text);
    XML_SetCdataSectionHandler(parser_.get(), &BeginUnparsed, &EndUnparsed);
    XML_SetCommentHandler(parser_.get(), [](void* self, const char*) { Of(self).AddOther(); });
    XML_SetProcessingInstructionHandler(
        parser_.get(), [](void* self, const char*, const char*) { Of(self).AddOther(); });
    // Without expansion: a reference to an entity of the document stays one.
    XML_SetDefaultHandler(parser_.get(), &Default);
  }

  // The next piece of the input.
  absl::Status Parse(std::string_view piece, bool last) {
    const auto status =
        XML_Parse(parser_.get(), piece.data(), static_cast<int>(piece.size()), last ? 1 : 0);
    if (!error_.ok()) return error_;
    if (status == XML_STATUS_OK) return absl::OkStatus();
    return ErrorAt(raw_, Here().begin, XML_ErrorString(XML_GetErrorCode(parser_.get())));
  }

  Outline TakeOutline() { return std::move(outline_); }

 private:
  static Listener& Of(void* self) { return *static_cast<Listener*>(self); }
  static void Start(void* self, const char* name, const char** attributes);
  static void End(void* self, const char* name);
  static void Text(void* self, const char* text, int size);
  static void BeginUnparsed(void* self);
  static void EndUnparsed(void* self);
  static void Default(void* self, const char* text, int size);

  // The bytes of raw that expat is at.
  std::ptrdiff_t Begin() const { return XML_GetCurrentByteIndex(parser_.get()) + offset_; }
  TextSpan Here() const {
    const std::ptrdiff_t begin = Begin();
    const std::ptrdiff_t end = begin + XML_GetCurrentByteCount(parser_.get());
    const auto inside = [&](std::ptrdiff_t place) {
      return std::min(static_cast<size_t>(std::max<std::ptrdiff_t>(0, place)), raw_.size());
    };
    return {inside(begin), inside(end)};
  }
  void AddOther() { Add(Event::kOther); }
  Event& Add(Event::Kind kind) {
    outline_.events.push_back({kind, Here(), open_.back(), ""});
    return outline_.events.back();
  }
  void Fail(std::string_view what) {
    error_ = ErrorAt(raw_, Here().begin, what);
    XML_StopParser(parser_.get(), XML_FALSE);
  }

  const std::string_view raw_;
  const std::ptrdiff_t first_, offset_;
  const MarkupOptions& options_;
  std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser_{nullptr, &XML_ParserFree};
  std::vector<int> open_;  // elements
  bool unparsed_ = false;  // within a CDATA section
  Outline outline_;
  absl::Status error_;
};

void Listener::Start(void* self, const char* name, const char** attributes) {
  Listener& listener = Of(self);
  if (listener.Begin() < listener.first_) return;  // the tag around a fragment
  if (listener.open_.size() > kMostDepth) {
    return listener.Fail(absl::StrCat("elements are nested deeper than ", kMostDepth));
  }
  std::vector<Element>& elements = listener.outline_.elements;
  const int parent = listener.open_.back();
  Element element = {.name = name,
                     .parent = parent,
                     .translated = elements[parent].translated,
                     .keeps_space = elements[parent].keeps_space};
  std::optional<bool> says;
  for (; *attributes != nullptr; attributes += 2) {
    const std::string_view key = attributes[0], value = attributes[1];
    if (key == "xml:space") element.keeps_space = value == "preserve";
    if (key == "translate" || key == "its:translate") {
      if (value == "yes" || value == "no") says = value == "yes";
    } else if (key == "xml:lang" && !says.has_value()) {
      says = TranslatesLanguage(value, listener.options_);
    }
  }
  element.translated = says.value_or(element.translated);
  if (says == true) {
    for (int e = parent; e > 0 && !elements[e].has_exception; e = elements[e].parent) {
      elements[e].has_exception = true;
    }
  }
  listener.open_.push_back(static_cast<int>(elements.size()));
  elements.push_back(std::move(element));
  listener.Add(Event::kStart);
}

void Listener::End(void* self, const char*) {
  Listener& listener = Of(self);
  if (listener.open_.size() == 1) {
    if (listener.Begin() < static_cast<std::ptrdiff_t>(listener.raw_.size())) {
      listener.Fail("mismatched tag");
    }
    return;
  }
  std::vector<Event>& events = listener.outline_.events;
  listener.outline_.elements[listener.open_.back()].end = events.size();
  listener.Add(Event::kEnd);
  listener.open_.pop_back();
}

void Listener::Text(void* self, const char* text, int size) {
  Listener& listener = Of(self);
  std::vector<Event>& events = listener.outline_.events;
  const std::string_view content(text, static_cast<size_t>(size));
  if (listener.unparsed_) {
    events.back().text += content;
    return;
  }
  const TextSpan here = listener.Here();
  if (content.find_first_not_of(kMarkupSpaces) != content.npos) {
    listener.outline_.elements[listener.open_.back()].has_text = true;
  }
  if (here.size() > 0 && listener.raw_[here.begin] == '&') {
    listener.Add(Event::kReference).text = content;
  } else if (!events.empty() && events.back().kind == Event::kText &&
             events.back().raw.end == here.begin) {
    events.back().raw.end = here.end;
  } else {
    listener.Add(Event::kText);
  }
}

void Listener::BeginUnparsed(void* self) {
  Of(self).Add(Event::kUnparsed);
  Of(self).unparsed_ = true;
}

void Listener::EndUnparsed(void* self) {
  Of(self).outline_.events.back().raw.end = Of(self).Here().end;
  Of(self).unparsed_ = false;
}

// What has no handler of its own.
void Listener::Default(void* self, const char* text, int size) {
  const std::string_view reference(text, static_cast<size_t>(size));
  if (!reference.starts_with('&') || !reference.ends_with(';')) return;
  Event& event = Of(self).Add(Event::kUnparsed);
  event.text = reference.substr(1, reference.size() - 2);
}

// Tells a builder of what was found.
class XmlTeller {
 public:
  XmlTeller(const Outline& outline, const MarkupOptions& options, MarkedTextBuilder* builder)
      : outline_(outline),
        options_(options),
        splitting_(options.splitting_tags.begin(), options.splitting_tags.end()),
        non_splitting_(options.non_splitting_tags.begin(), options.non_splitting_tags.end()),
        ignored_(options.ignore_tags.begin(), options.ignore_tags.end()),
        inline_(outline.elements.size(), 0),
        builder_(*builder) {}

  void Tell() {
    for (size_t i = 0; i < outline_.events.size(); ++i) {
      const Event& event = outline_.events[i];
      if (event.kind == Event::kStart) {
        i = TellStart(i);
      } else if (event.kind == Event::kEnd) {
        inline_[event.element] ? builder_.Close(event.raw) : builder_.Boundary(event.raw);
      } else {
        TellContent(event);
      }
    }
  }

 private:
  bool IsInline(const Element& element) const {
    if (splitting_.count(element.name) > 0) return false;
    if (non_splitting_.count(element.name) > 0 || !options_.outline_detection) return true;
    return inline_[element.parent] || outline_.elements[element.parent].has_text;
  }

  // Returns the last event that this told.
  size_t TellStart(size_t i) {
    const Event& start = outline_.events[i];
    const Element& element = outline_.elements[start.element];
    const Event& end = outline_.events[element.end];
    const TextSpan whole = {start.raw.begin, end.raw.end};
    inline_[start.element] = IsInline(element);
    const bool copied =
        ignored_.count(element.name) > 0 || (!element.translated && !element.has_exception);
    if (!copied && end.raw.size() > 0) {
      inline_[start.element] ? builder_.Open(start.raw) : builder_.Boundary(start.raw);
      return i;
    }
    if (inline_[start.element]) {
      builder_.Opaque(whole, TextBetween(i, element.end));
    } else {
      builder_.Boundary(whole);
    }
    return element.end;
  }

  std::string TextBetween(size_t begin, size_t end) const {
    std::string text;
    for (size_t i = begin; i < end; ++i) {
      const Event& event = outline_.events[i];
      if (event.kind == Event::kText)
        text += builder_.raw().substr(event.raw.begin, event.raw.size());
      if (event.kind == Event::kReference || event.kind == Event::kUnparsed) text += event.text;
    }
    return text;
  }

  void TellContent(const Event& event) {
    const Element& element = outline_.elements[event.element];
    builder_.CollapseWhiteSpace(options_.join_lines && !element.keeps_space);
    if (event.kind == Event::kOther) {
      builder_.Empty(event.raw);
    } else if (event.kind == Event::kUnparsed) {
      builder_.Opaque(event.raw, event.text);
    } else if (!element.translated) {
      TellUntranslated(event);
    } else if (event.kind == Event::kReference) {
      builder_.Spelled(event.raw, event.text);
    } else {
      builder_.Text(event.raw);
    }
  }

  // Text that is copied, without the white space at its ends.
  void TellUntranslated(const Event& event) {
    if (event.kind == Event::kReference) return builder_.Opaque(event.raw, event.text);
    const TextSpan core = WithoutMarkupSpaces(builder_.raw(), event.raw);
    builder_.Text({event.raw.begin, core.begin});
    if (core.size() > 0) builder_.Opaque(core, builder_.raw().substr(core.begin, core.size()));
    builder_.Text({core.end, event.raw.end});
  }

  const Outline& outline_;
  const MarkupOptions& options_;
  const std::set<std::string_view> splitting_, non_splitting_, ignored_;
  std::vector<char> inline_;  // elements; not the one around everything
  MarkedTextBuilder& builder_;
};

// Whether the text begins with a prolog, after comments and the like.
bool IsDocument(std::string_view text) {
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kMarkupSpaces), text.size()));
    if (text.starts_with("<!DOCTYPE") || text.starts_with("<?xml ")) return true;
    const bool comment = text.starts_with("<!--");
    if (!comment && !text.starts_with("<?")) return false;
    const std::string_view close = comment ? "-->" : "?>";
    const size_t end = text.find(close);
    if (end == text.npos) return false;
    text.remove_prefix(end + close.size());
  }
}

absl::StatusOr<Outline> ParseXml(std::string_view raw, const MarkupOptions& options) {
  const size_t mark = raw.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  const std::string_view text = raw.substr(mark);
  const bool document = IsDocument(text);
  const auto first = static_cast<std::ptrdiff_t>(mark);
  const auto around = document ? 0 : static_cast<std::ptrdiff_t>(kOpening.size());
  Listener listener(raw, first, first - around, options);
  if (!document) RETURN_IF_ERROR(listener.Parse(kOpening, false));
  RETURN_IF_ERROR(listener.Parse(text, document));
  if (!document) RETURN_IF_ERROR(listener.Parse(kClosing, true));
  return listener.TakeOutline();
}

}  // namespace

absl::StatusOr<MarkedText> ReadXml(std::string raw, const MarkupOptions& options) {
  ASSIGN_OR_RETURN(const Outline outline, ParseXml(raw, options));
  MarkedTextBuilder builder(std::move(raw));
  XmlTeller(outline, options, &builder).Tell();
  return std::move(builder).Finish();
}

}  // namespace dragoman
