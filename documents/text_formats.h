// The formats of text in a part: which look equal, and what is written around text in them.
//
// A word processor cuts text up without need: at places where a spelling checker stopped, or where
// text was inserted later.  What differs only in that is the same format, so a sentence is whole
// again.

#ifndef DRAGOMAN_DOCUMENTS_TEXT_FORMATS_H_
#define DRAGOMAN_DOCUMENTS_TEXT_FORMATS_H_

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "absl/types/span.h"
#include "documents/paragraph.h"
#include "documents/rich_text.h"
#include "engine/base/xml_events.h"

namespace dragoman {

// A run of Office: <w:r><w:rPr>...</w:rPr><w:t>dog</w:t></w:r>
struct OfficeRun {
  std::string_view tag;     // "w:r"
  std::string_view format;  // the whole <w:rPr>; "" if there is none
  bool drawing = false;     // white space of its text needs no attribute to be kept
  size_t content = 0;       // the event after its format
};

// REQUIRES: the part and `patience`, which counts the formats, outlive it.
class TextFormats {
 public:
  TextFormats(std::string_view part, XmlVocabulary::Kind kind, Patience* patience)
      : part_(part), kind_(kind), patience_(patience) {}

  // OpenDocument: a style that says how its name looks.
  void AddStyle(absl::Span<const XmlEvent> events, size_t i);
  // Whether the text of that paragraph is translated; code is not.
  bool IsTranslated(absl::Span<const XmlEvent> events, size_t i) const;

  FormatPointer OfRun(const OfficeRun& run);
  // Of text that is in no run: the <t> of a cell.
  FormatPointer OfText(std::string_view tag, bool drawing);
  // Of text in an element of OpenDocument, which stands in text of the format `outer`.
  FormatPointer Within(const FormatPointer& outer, absl::Span<const XmlEvent> events, size_t i,
                       bool code);

 private:
  struct Style {
    std::string key;  // equal for styles that look equal; "": as without a style
    bool code = false;
  };

  std::string_view Tag(const XmlEvent& event) const {
    return part_.substr(event.begin, event.end - event.begin);
  }
  Style StyleOf(std::string_view tag, std::string_view family) const;
  FormatPointer Keep(TextFormat format);

  const std::string_view part_;
  const XmlVocabulary::Kind kind_;
  Patience* const patience_;
  std::map<std::string, Style> styles_;                     // by family and name
  std::unordered_map<std::string, FormatPointer> formats_;  // by what they write before text
};

// The characters of an attribute, by its name without prefix; "" if there is none.
std::string AttributeNamed(std::string_view tag, std::string_view name);

// Whether the content of an element of XHTML is translated: translate="no", class="notranslate".
bool IsXhtmlTranslated(std::string_view tag, bool inherited);

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_TEXT_FORMATS_H_
