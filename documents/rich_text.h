// Reads the paragraphs of a part that is XML: Office Open XML, OpenDocument or XHTML.
//
// They differ in the names of their elements, which a XmlVocabulary gives roles, and in where text
// may stand: in Office, in the <w:t> of a run alone; in the others, between any tags of a
// paragraph.
//
//   Office        <w:p><w:r><w:rPr><w:b/></w:rPr><w:t>dog</w:t></w:r></w:p>
//   OpenDocument  <text:p><text:span text:style-name="T1">dog</text:span></text:p>
//   XHTML         <p><b>dog</b></p>, and every other element that is not named is a block, too

#ifndef DRAGOMAN_DOCUMENTS_RICH_TEXT_H_
#define DRAGOMAN_DOCUMENTS_RICH_TEXT_H_

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "documents/document.h"
#include "engine/base/xml_events.h"

namespace dragoman {

// What an element is to a translation.
enum class Role : uint8_t {
  kOther,  // what it contains may have paragraphs; in a paragraph it is a mark, in XHTML a block
  kParagraph,
  kRun,          // its text has a format of its own; in XHTML, none: its tags are left out
  kCode,         // a run that is not translated; in XHTML, a group
  kFormat,       // of a run, in Office: <w:rPr>
  kText,         // of a run, in Office: <w:t>
  kDrawingText,  // the same, where white space needs no attribute to be kept
  kCellText,     // the same, where a line break is one
  kGroup,        // cannot be there twice: a link
  kWrapper,      // a group together with the kContent in it
  kContent,
  kMark,         // a mark that has no paragraphs
  kOrdered,      // a mark that stays in the order of others: the beginning or end of a range
  kNote,         // the same; it may have paragraphs
  kSpace,        // a mark that is read as white space: a tab
  kLine,         // a mark that ends a sentence
  kHyphen,       // a hyphen that does not break
  kIgnored,      // left out of what is translated
  kSkipped,      // neither it nor what is in it is translated
  kField,        // Office: a part of a field: its beginning, its result's, its end
  kInstruction,  // Office: what a field is
  kSimpleField,
  kStyle,  // OpenDocument: how a name of a style looks
  kCell,   // OpenDocument: of a table; translated if it is text
};

// Elements with the same role.
struct RoleOfElements {
  std::string_view space;  // a short name of XmlVocabulary::spaces; "": any, and names by any case
  Role role;
  std::string_view names;  // with spaces between them
};

struct XmlVocabulary {
  enum Kind { kOffice, kOpenDocument, kXhtml } kind;
  // Addresses of namespaces, and the short name that the elements have for each.
  absl::Span<const std::pair<std::string_view, std::string_view>> spaces;
  absl::Span<const RoleOfElements> elements;
  XmlKind reads = XmlKind::kFile;
};

// The passages of a part, in order.
absl::StatusOr<std::vector<Passage>> ReadRichText(std::string_view part,
                                                  const XmlVocabulary& vocabulary,
                                                  Patience* patience);

// The role of each event that is a kStart or kEnd.
std::vector<Role> FindRoles(std::string_view part, absl::Span<const XmlEvent> events,
                            const XmlVocabulary& vocabulary, Patience* patience);

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_RICH_TEXT_H_
