// The content of an element as a text with structure.
//
//   <source>Press <ph id="1">&lt;b&gt;</ph>OK</source>     Press <x1 translate="no">...</x1>OK

#ifndef DRAGOMAN_DOCUMENTS_XML_INLINE_H_
#define DRAGOMAN_DOCUMENTS_XML_INLINE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "documents/inline_text.h"
#include "engine/base/xml_events.h"

namespace dragoman {

enum class XmlRole {
  kMark,    // its content is part of the text
  kCopied,  // it comes back as it is
  kBreak,   // so does it, and it ends a line
};

struct XmlContent {
  // What an element in the text is, by its name without prefix and its start tag.
  XmlRole (*role)(std::string_view name, std::string_view tag) = nullptr;
  bool collapse = false;  // white space is one space
  // The characters that the text of the element stands for.  Null: themselves.
  std::string (*read)(std::string_view text) = nullptr;
};

// Of events [begin, end), which hold whole elements; not all of them if `patience` does not last.
InlineText ReadXmlContent(std::string_view part, const std::vector<XmlEvent>& events, size_t begin,
                          size_t end, const XmlContent& content, Patience* patience);

// That text as a passage, without the white space at its ends; none if it has no words.
std::optional<Passage> XmlPassage(std::string_view part, const std::vector<XmlEvent>& events,
                                  size_t begin, size_t end, const XmlContent& content,
                                  Spelling spell, Patience* patience);

// Whether events [begin, end) are nothing but white space.
bool IsBlankXml(std::string_view part, const std::vector<XmlEvent>& events, size_t begin,
                size_t end);
// The first child of that name (without prefix) of the element that begins at events[start]; 0 if
// there is none.
size_t FindXmlChild(const std::vector<XmlEvent>& events, size_t start, std::string_view name);
// The white space in front of a byte that begins a line; "" if something else stands there.
std::string IndentBefore(std::string_view part, size_t place);

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_XML_INLINE_H_
