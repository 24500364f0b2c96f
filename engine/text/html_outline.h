// The elements of an HTML text, as far as a translation has to know them: which end tag belongs to
// which start tag, and what is to be translated.  A simple stack of open elements stands in for the
// standard's construction of a tree; where tags are nested wrongly, some are left without a
// partner.

#ifndef DRAGOMAN_ENGINE_TEXT_HTML_OUTLINE_H_
#define DRAGOMAN_ENGINE_TEXT_HTML_OUTLINE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/html_elements.h"
#include "engine/text/html_tokenizer.h"
#include "engine/text/markup.h"
#include "engine/text/text_span.h"

namespace dragoman {

// The value of an attribute that is to be translated.
struct HtmlValue {
  TextSpan raw;
  Writing writing = Writing::kDoubleQuoted;
  bool keeps_space = false;
};

struct HtmlElement {
  HtmlKind kind;
  int parent = 0;
  bool translated = true;
  bool sealed = false;         // nothing inside can be translated
  bool has_exception = false;  // an element inside of it is to be translated
  bool has_block = false;      // an element inside of it is a block
  bool foreign = false;        // of SVG or MathML
  bool closed = false;         // has an end tag
  size_t end = 0;              // its event or, without one, the first event after the content
  std::vector<HtmlValue> values;
  std::optional<size_t> direction_place;  // where an attribute may be added, if it is outermost
};

struct HtmlEvent {
  enum Kind {
    kStart,
    kEnd,
    kVoid,  // an element without content
    kText,
    kUnparsed,  // CDATA
    kOther,     // a comment or the like
    kBoundary,  // ends a sentence
  } kind = kOther;
  TextSpan raw;
  TextSpan text;                             // of kText and kUnparsed
  HtmlContent content = HtmlContent::kData;  // of kText
  int element = 0;                           // that begins or ends, or that it is in
};

struct HtmlOutline {
  std::vector<HtmlElement> elements;  // the first one is around everything
  std::vector<HtmlEvent> events;
};

HtmlOutline OutlineHtml(std::string_view html, const MarkupOptions& options);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_HTML_OUTLINE_H_
