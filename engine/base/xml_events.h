// XML with offsets: what stands where in a part of a file or in a text, as a flat list.
//
//   <p a="1">x &amp; y<br/></p>
//
//   0-9    kStart  p        9-18   kText   x &amp; y
//   18-23  kStart  br       23-23  kEnd    br            23-27  kEnd  p
//
// Expat says whether the part is well-formed and where each thing begins and ends; what a thing
// contains is read from its bytes by those who want it: XmlText() and XmlAttributes().  So the list
// is small, and its names are views of the part, which must outlive it.
//
// Nothing is expanded or fetched, and a part cannot make the list larger than itself.  Elements
// nested deeper than 256 are refused.

#ifndef DRAGOMAN_ENGINE_BASE_XML_EVENTS_H_
#define DRAGOMAN_ENGINE_BASE_XML_EVENTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/base/patience.h"

namespace dragoman {

inline constexpr std::string_view kXmlSpaces = " \t\r\n";

struct XmlEvent {
  enum Kind : uint8_t {
    kStart,
    kEnd,        // of <br/>: empty, after its kStart
    kText,       // characters, with references to characters and XML's own five entities
    kCdata,      // a whole <![CDATA[...]]>
    kReference,  // to an entity of a document type: &nbsp;
    kOther,      // a comment, a processing instruction; of a file: the XML declaration
  } kind;
  int line = 1;
  size_t begin = 0;  // bytes [begin, end) of the part
  size_t end = 0;
  std::string_view name;  // of kStart and kEnd, as it is written: "w:t"
  size_t partner = 0;     // kStart: the index of its kEnd; kEnd: of its kStart
};

// The bytes of an event.
inline std::string_view XmlBytes(std::string_view part, const XmlEvent& event) {
  return part.substr(event.begin, event.end - event.begin);
}

// What is read.
enum class XmlKind {
  kFile,   // must not declare external or parameter entities, nor another encoding than UTF-8
  kXhtml,  // such a file that may refer to HTML's entities, which it does not declare
  kText,   // a document that begins with a prolog; or any elements side by side, and text
};

// Is told the attributes of a start tag, names and values in turn up to a null, and the index that
// its event will have.
using HearAttributes = std::function<void(size_t event, const char** attributes)>;

// INVALID_ARGUMENT, with the line and, for kText, the column, if the part is not well-formed XML in
// UTF-8; the error of `patience`, which counts the memory of the list.  Null: it lasts.
absl::StatusOr<std::vector<XmlEvent>> ReadXmlEvents(std::string_view part,
                                                    Patience* patience = nullptr,
                                                    XmlKind kind = XmlKind::kFile,
                                                    const HearAttributes& hear = nullptr);

struct XmlAttribute {
  std::string_view name;   // as it is written
  std::string_view value;  // between its quotes, a view of the part: XmlText(value)
};

// Of a start tag: the bytes of a kStart.
std::vector<XmlAttribute> XmlAttributes(std::string_view tag);
// The characters of one of them; `missing` if it has none of that name.
std::string XmlAttributeOr(std::string_view tag, std::string_view name,
                           std::string_view missing = "");

// The characters that raw text, CDATA sections or attributes stand for; line ends are "\n".
// References that are not XML's own stay as they are.
std::string XmlText(std::string_view raw);
// Characters as text, or as the value of an attribute in quotes of either kind.
std::string EscapeXml(std::string_view text);
std::string EscapeXmlAttribute(std::string_view text);

// Without its prefix: "t" of "w:t".
std::string_view LocalXmlName(std::string_view name);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_XML_EVENTS_H_
