// The events of the text (xml_events.h) are gone through twice, because whether an element stands
// next to text is known only after the end of its parent: the second time a builder is told of
// them.

#include "engine/text/xml_reader.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_replace.h"
#include "engine/base/status.h"
#include "engine/base/xml_events.h"

namespace dragoman {
namespace {

struct Element {
  std::optional<bool> says;         // whether it is translated
  std::optional<bool> keeps_space;  // of its parent, if it says nothing itself
  size_t parent = 0;
  bool has_text = false;       // between its tags and those of its children
  bool has_exception = false;  // an element inside of it says translate="yes"
  bool translated = true;
  bool is_inline = false;
};

// Tells a builder of what its raw bytes are.
class XmlTeller {
 public:
  XmlTeller(const MarkupOptions& options, MarkedTextBuilder* builder)
      : options_(options),
        splitting_(options.splitting_tags.begin(), options.splitting_tags.end()),
        non_splitting_(options.non_splitting_tags.begin(), options.non_splitting_tags.end()),
        ignored_(options.ignore_tags.begin(), options.ignore_tags.end()),
        elements_(1),
        builder_(*builder) {}

  absl::Status Tell() {
    const auto hear = [this](size_t event, const char** attributes) {
      elements_.resize(event + 2);
      Hear(attributes, &elements_.back());
    };
    ASSIGN_OR_RETURN(events_, ReadXmlEvents(builder_.raw(), nullptr, XmlKind::kText, hear));
    ReadOutline();
    for (size_t i = 0; i < events_.size(); ++i) {
      const XmlEvent& event = events_[i];
      if (event.kind == XmlEvent::kStart) {
        i = TellStart(i);
      } else if (event.kind == XmlEvent::kEnd) {
        elements_[open_].is_inline ? builder_.Close(Raw(event)) : builder_.Boundary(Raw(event));
        open_ = elements_[open_].parent;
      } else {
        TellContent(event);
      }
    }
    return absl::OkStatus();
  }

 private:
  static TextSpan Raw(const XmlEvent& event) { return {event.begin, event.end}; }
  std::string_view Bytes(TextSpan raw) const {
    return builder_.raw().substr(raw.begin, raw.size());
  }

  void Hear(const char** attributes, Element* element) const {
    for (; *attributes != nullptr; attributes += 2) {
      const std::string_view key = attributes[0], value = attributes[1];
      if (key == "xml:space") element->keeps_space = value == "preserve";
      if (key == "translate" || key == "its:translate") {
        if (value == "yes" || value == "no") element->says = value == "yes";
      } else if (key == "xml:lang" && !element->says.has_value()) {
        element->says = TranslatesLanguage(value, options_);
      }
    }
  }

  // What elements have from each other.
  void ReadOutline() {
    size_t open = 0;
    for (size_t i = 0; i < events_.size(); ++i) {
      const XmlEvent& event = events_[i];
      if (event.kind == XmlEvent::kEnd) open = elements_[open].parent;
      if (event.kind == XmlEvent::kText && !elements_[open].has_text) {
        elements_[open].has_text =
            XmlText(Bytes(Raw(event))).find_first_not_of(kMarkupSpaces) != std::string::npos;
      }
      if (event.kind != XmlEvent::kStart) continue;
      Element& element = elements_[i + 1];
      element.parent = open;
      element.translated = element.says.value_or(elements_[open].translated);
      if (!element.keeps_space.has_value()) element.keeps_space = elements_[open].keeps_space;
      for (size_t e = open; element.says == true && e > 0 && !elements_[e].has_exception;
           e = elements_[e].parent) {
        elements_[e].has_exception = true;
      }
      open = i + 1;
    }
  }

  bool IsInline(std::string_view name, const Element& parent) const {
    if (splitting_.count(name) > 0) return false;
    if (non_splitting_.count(name) > 0 || !options_.outline_detection) return true;
    return parent.is_inline || parent.has_text;
  }

  // Returns the last event that this told.
  size_t TellStart(size_t i) {
    const XmlEvent& start = events_[i];
    const XmlEvent& end = events_[start.partner];
    const TextSpan whole = {start.begin, end.end};
    Element& element = elements_[i + 1];
    element.is_inline = IsInline(start.name, elements_[element.parent]);
    const bool copied =
        ignored_.count(start.name) > 0 || (!element.translated && !element.has_exception);
    if (!copied && end.end > end.begin) {
      element.is_inline ? builder_.Open(Raw(start)) : builder_.Boundary(Raw(start));
      open_ = i + 1;
      return i;
    }
    if (element.is_inline) {
      builder_.Opaque(whole, TextBetween(i, start.partner));
    } else {
      builder_.Boundary(whole);
    }
    return start.partner;
  }

  // The pieces of text between references, and these.
  void ForPieces(const XmlEvent& text,
                 absl::FunctionRef<void(TextSpan raw, bool is_reference)> tell) const {
    for (size_t at = text.begin; at < text.end;) {
      const bool is_reference = builder_.raw()[at] == '&';
      const size_t stop = builder_.raw().find(is_reference ? ';' : '&', at);
      const size_t end = is_reference ? stop + 1 : std::min(stop, text.end);
      tell({at, end}, is_reference);
      at = end;
    }
  }

  // What is seen of what XML does not expand: a CDATA section, an entity's name.
  std::string UnparsedText(const XmlEvent& event) const {
    const std::string_view bytes = Bytes(Raw(event));
    if (event.kind == XmlEvent::kReference) return std::string(bytes.substr(1, bytes.size() - 2));
    return absl::StrReplaceAll(XmlText(bytes), {{"\r\n", "\n"}, {"\r", "\n"}});
  }

  std::string TextBetween(size_t begin, size_t end) const {
    std::string text;
    for (size_t i = begin; i < end; ++i) {
      const XmlEvent& event = events_[i];
      if (event.kind == XmlEvent::kText) {
        ForPieces(event, [&](TextSpan raw, bool is_reference) {
          is_reference ? text += XmlText(Bytes(raw)) : text += Bytes(raw);
        });
      } else if (event.kind == XmlEvent::kCdata || event.kind == XmlEvent::kReference) {
        text += UnparsedText(event);
      }
    }
    return text;
  }

  void TellContent(const XmlEvent& event) {
    const Element& element = elements_[open_];
    builder_.CollapseWhiteSpace(options_.join_lines && !element.keeps_space.value_or(false));
    if (event.kind == XmlEvent::kOther) return builder_.Empty(Raw(event));
    if (event.kind != XmlEvent::kText) return builder_.Opaque(Raw(event), UnparsedText(event));
    ForPieces(event, [&](TextSpan raw, bool is_reference) {
      if (is_reference) {
        const std::string text = XmlText(Bytes(raw));
        element.translated ? builder_.Spelled(raw, text) : builder_.Opaque(raw, text);
      } else if (element.translated) {
        builder_.Text(raw);
      } else {
        const TextSpan core = WithoutMarkupSpaces(builder_.raw(), raw);  // is copied
        builder_.Text({raw.begin, core.begin});
        if (core.size() > 0) builder_.Opaque(core, Bytes(core));
        builder_.Text({core.end, raw.end});
      }
    });
  }

  const MarkupOptions& options_;
  const std::set<std::string_view> splitting_, non_splitting_, ignored_;
  std::vector<XmlEvent> events_;
  std::vector<Element> elements_;  // behind the one around everything: by the event that begins it
  size_t open_ = 0;                // element
  MarkedTextBuilder& builder_;
};

}  // namespace

absl::StatusOr<MarkedText> ReadXml(std::string raw, const MarkupOptions& options) {
  MarkedTextBuilder builder(std::move(raw));
  RETURN_IF_ERROR(XmlTeller(options, &builder).Tell());
  return std::move(builder).Finish();
}

}  // namespace dragoman
