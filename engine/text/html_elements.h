// What the elements of HTML are to a translation.

#ifndef DRAGOMAN_ENGINE_TEXT_HTML_ELEMENTS_H_
#define DRAGOMAN_ENGINE_TEXT_HTML_ELEMENTS_H_

#include <string_view>

#include "engine/text/html_tokenizer.h"

namespace dragoman {

// The default is an element that browsers do not know: part of a line of text.
struct HtmlKind {
  bool block = false;    // ends a sentence
  bool is_void = false;  // has neither content nor an end tag
  bool breaks = false;   // <br>
  bool copied = false;   // its content is not translated
  bool hidden = false;   // nor is it part of the text around it
  bool sealed = false;   // not even if it says so: what is inside is not text
  bool keeps_space = false;
  HtmlContent content = HtmlContent::kData;
};

// Names are in lower case.
HtmlKind KindOfHtml(std::string_view name);

// Whether the start tag of `next` ends an open element: <li> another <li>, a block a <p>.
bool EndsOpenElement(std::string_view open, std::string_view next, bool next_is_block);

// SVG and MathML have elements whose content is HTML again, and end before certain elements of
// HTML, even without an end tag.
bool IsForeignRoot(std::string_view name);
bool HoldsHtml(std::string_view foreign_name);
bool LeavesForeign(std::string_view name);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_HTML_ELEMENTS_H_
