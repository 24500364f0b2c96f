// The outline says what there is, the HtmlTeller tells it to a builder.  Two passes, because how an
// element is told depends on what is in it and on whether it has an end tag.

#include "engine/text/html_reader.h"

#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "engine/base/html_references.h"
#include "engine/base/utf8.h"
#include "engine/text/html_outline.h"

namespace dragoman {
namespace {

// More would be too deep for those that follow the nesting.  The tags of inner elements stay where
// they are, like those without a partner.
constexpr int kMostNestedMarks = 256;

// Whether `html` would become a tag or a reference before other characters: "a <", "AT&T".
bool IsOpenEnded(std::string_view html) {
  while (!html.empty() && (absl::ascii_isalnum(html.back()) || html.back() == '#')) {
    html.remove_suffix(1);
  }
  return html.ends_with('&') || html.ends_with('<') || html.ends_with("</");
}

class HtmlTeller {
 public:
  HtmlTeller(const HtmlOutline& outline, MarkedTextBuilder* builder)
      : outline_(outline), is_mark_(outline.elements.size(), 0), builder_(*builder) {}

  void Tell() {
    for (size_t i = 0; i < outline_.events.size(); ++i) {
      const HtmlEvent& event = outline_.events[i];
      switch (event.kind) {
        case HtmlEvent::kStart:
          i = TellStart(i);
          break;
        case HtmlEvent::kEnd:
          TellEnd(event);
          break;
        case HtmlEvent::kVoid:
          TellVoid(event);
          break;
        case HtmlEvent::kText:
        case HtmlEvent::kUnparsed:
          TellText(i);
          break;
        case HtmlEvent::kOther:
          builder_.Empty(event.raw);
          break;
        case HtmlEvent::kBoundary:
          builder_.Boundary(event.raw);
          break;
      }
    }
  }

 private:
  const HtmlElement& Element(const HtmlEvent& event) const {
    return outline_.elements[static_cast<size_t>(event.element)];
  }
  std::string_view Raw(TextSpan span) const {
    return builder_.raw().substr(span.begin, span.size());
  }

  // Returns the last event that this told.
  size_t TellStart(size_t i) {
    const HtmlEvent& start = outline_.events[i];
    const HtmlElement& element = Element(start);
    if (i > 0 && outline_.events[i - 1].kind == HtmlEvent::kEnd &&
        outline_.events[i - 1].raw.end == start.raw.begin &&
        Raw(outline_.events[i - 1].raw) == "</a>" && Raw(start.raw).starts_with("<a ")) {
      builder_.Boundary({start.raw.begin, start.raw.begin});  // links that touch are two
    }
    TellValues(element);
    if (element.direction_place) builder_.DirectionPlace(*element.direction_place);
    const bool copied = !element.translated && !element.has_exception;
    if (copied && element.closed) {
      const TextSpan whole = {start.raw.begin, outline_.events[element.end].raw.end};
      if (element.kind.block || element.has_block) {
        builder_.Boundary(whole);
      } else {
        builder_.Opaque(whole, Shown(i, element.end));
      }
      return element.end;
    }
    if (element.kind.block || copied) {  // without an end tag, it swallows what follows
      builder_.Boundary(start.raw);
    } else if (element.closed && builder_.open() < kMostNestedMarks) {
      builder_.Open(start.raw);
      is_mark_[static_cast<size_t>(start.element)] = 1;
    } else {
      builder_.Empty(start.raw);
    }
    return i;
  }

  void TellEnd(const HtmlEvent& end) {
    if (Element(end).kind.block) {
      builder_.Boundary(end.raw);
    } else if (is_mark_[static_cast<size_t>(end.element)]) {
      builder_.Close(end.raw);
    } else {
      builder_.Empty(end.raw);
    }
  }

  void TellVoid(const HtmlEvent& event) {
    const HtmlElement& element = Element(event);
    TellValues(element);
    if (element.kind.block) {
      builder_.Boundary(event.raw);
    } else {
      builder_.Empty(event.raw, element.kind.breaks);
    }
  }

  void TellValues(const HtmlElement& element) {
    for (const HtmlValue& value : element.values) {
      builder_.CollapseWhiteSpace(!value.keeps_space);
      builder_.BeginAttribute(value.raw, value.writing);
      TellWritten(value.raw, HtmlPlace::kAttribute);
      builder_.EndAttribute();
    }
  }

  void TellText(size_t i) {
    const HtmlEvent& event = outline_.events[i];
    const HtmlElement& element = Element(event);
    builder_.CollapseWhiteSpace(!element.kind.keeps_space);
    TextSpan raw = event.raw;
    if (raw.begin == 0 && Raw(raw).starts_with(kByteOrderMark)) {
      builder_.Boundary({0, kByteOrderMark.size()});
      raw.begin = kByteOrderMark.size();
    }
    if (!element.translated || event.kind == HtmlEvent::kUnparsed) {
      TellUntranslated(raw, Shown(i, i + 1));
    } else if (event.content == HtmlContent::kData || event.content == HtmlContent::kRcdata) {
      TellWritten(raw, HtmlPlace::kText);
    } else {
      builder_.Text(raw);
    }
  }

  // Text that may contain references.
  void TellWritten(TextSpan raw, HtmlPlace place) {
    const std::string_view html = Raw(raw);
    size_t told = 0;
    for (size_t at = html.find('&'); at != html.npos; at = html.find('&', at)) {
      std::string text;
      const size_t length = ReadHtmlReference(html.substr(at), place, &text);
      if (length == 0) {
        ++at;
        continue;
      }
      builder_.Text({raw.begin + told, raw.begin + at});
      builder_.Spelled({raw.begin + at, raw.begin + at + length}, text);
      at += length;
      told = at;
    }
    builder_.Text({raw.begin + told, raw.end});
  }

  // The white space around such text is that of the sentence.
  void TellUntranslated(TextSpan raw, std::string_view shown) {
    const TextSpan core = WithoutMarkupSpaces(builder_.raw(), raw);
    builder_.Text({raw.begin, core.begin});
    if (core.size() == 0) return;
    if (IsOpenEnded(Raw(core))) {
      builder_.Boundary(core);
    } else {
      builder_.Opaque(core, shown);
    }
    builder_.Text({core.end, raw.end});
  }

  // The text of the events as browsers show it.
  std::string Shown(size_t begin, size_t end) const {
    std::string shown;
    for (size_t i = begin; i < end; ++i) {
      const HtmlEvent& event = outline_.events[i];
      const HtmlKind& kind = Element(event).kind;
      if (kind.hidden) continue;
      if (event.kind == HtmlEvent::kText) {
        shown += DecodeHtml(Raw(event.text), event.content, HtmlPlace::kText);
      } else if (event.kind == HtmlEvent::kUnparsed) {
        shown += Raw(event.text);
      } else if (kind.breaks) {
        shown += ' ';
      }
    }
    absl::RemoveExtraAsciiWhitespace(&shown);
    return shown;
  }

  const HtmlOutline& outline_;
  std::vector<char> is_mark_;  // elements
  MarkedTextBuilder& builder_;
};

}  // namespace

MarkedText ReadHtml(std::string raw, const MarkupOptions& options) {
  const HtmlOutline outline = OutlineHtml(raw, options);
  MarkedTextBuilder builder(std::move(raw));
  HtmlTeller(outline, &builder).Tell();
  return std::move(builder).Finish();
}

}  // namespace dragoman
