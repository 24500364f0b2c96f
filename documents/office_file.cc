// Office Open XML: DOCX, PPTX and XLSX (ECMA-376).  One reader does for all, because a document may
// contain drawings and a sheet comments; the file's list of content types says which members have
// text.

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "documents/container.h"
#include "documents/container_formats.h"
#include "documents/rich_text.h"
#include "documents/text_formats.h"
#include "engine/base/status.h"
#include "engine/base/xml_events.h"

namespace dragoman {
namespace {

constexpr std::pair<std::string_view, std::string_view> kOfficeSpaces[] = {
    {"w", "http://schemas.openxmlformats.org/wordprocessingml/2006/main"},
    {"w", "http://purl.oclc.org/ooxml/wordprocessingml/main"},
    {"a", "http://schemas.openxmlformats.org/drawingml/2006/main"},
    {"a", "http://purl.oclc.org/ooxml/drawingml/main"},
    {"s", "http://schemas.openxmlformats.org/spreadsheetml/2006/main"},
    {"s", "http://purl.oclc.org/ooxml/spreadsheetml/main"},
    {"dc", "http://purl.org/dc/elements/1.1/"},
};

constexpr RoleOfElements kOfficeElements[] = {
    {"w", Role::kParagraph, "p"},
    {"w", Role::kRun, "r"},
    {"w", Role::kFormat, "rPr"},
    {"w", Role::kText, "t"},
    {"w", Role::kGroup, "hyperlink ins moveTo smartTag customXml dir bdo"},
    {"w", Role::kSimpleField, "fldSimple"},
    {"w", Role::kWrapper, "sdt"},
    {"w", Role::kContent, "sdtContent"},
    {"w", Role::kSkipped, "del moveFrom"},
    {"w", Role::kField, "fldChar"},
    {"w", Role::kInstruction, "instrText"},
    {"w", Role::kSpace, "tab ptab br cr"},
    {"w", Role::kHyphen, "noBreakHyphen"},
    {"w", Role::kIgnored, "softHyphen proofErr lastRenderedPageBreak"},
    {"w", Role::kOrdered,
     "bookmarkStart bookmarkEnd commentRangeStart commentRangeEnd commentReference "
     "permStart permEnd moveFromRangeStart moveFromRangeEnd moveToRangeStart "
     "moveToRangeEnd"},
    {"a", Role::kParagraph, "p"},
    {"a", Role::kRun, "r"},
    {"a", Role::kFormat, "rPr"},
    {"a", Role::kDrawingText, "t"},
    {"a", Role::kSpace, "br"},
    {"a", Role::kMark, "fld"},
    {"s", Role::kParagraph, "si is text"},
    {"s", Role::kRun, "r"},
    {"s", Role::kFormat, "rPr"},
    {"s", Role::kCellText, "t"},
    {"s", Role::kSkipped, "rPh"},
    {"s", Role::kOther, "sheetData"},
};

// Elements that are text by themselves.
constexpr RoleOfElements kOfficeProperties[] = {
    {"dc", Role::kParagraph, "title subject description"}};

constexpr XmlVocabulary kOffice = {XmlVocabulary::kOffice, kOfficeSpaces, kOfficeElements};
constexpr XmlVocabulary kCoreProperties = {XmlVocabulary::kOpenDocument, kOfficeSpaces,
                                           kOfficeProperties};

// How the content types of members with text end.
constexpr std::string_view kTranslatedTypes[] = {
    // Word
    "document.main+xml",
    "document.macroenabled.main+xml",
    "wordprocessingml.template.main+xml",
    "ms-word.template.macroenabledtemplate.main+xml",
    "wordprocessingml.header+xml",
    "wordprocessingml.footer+xml",
    "wordprocessingml.footnotes+xml",
    "wordprocessingml.endnotes+xml",
    "wordprocessingml.comments+xml",
    // PowerPoint
    "presentationml.slide+xml",
    "presentationml.notesslide+xml",
    // Excel
    "spreadsheetml.sharedstrings+xml",
    "spreadsheetml.worksheet+xml",
    "spreadsheetml.comments+xml",
    // What is drawn
    "openxmlformats-officedocument.drawing+xml",
    "drawingml.chart+xml",
    "drawingml.chartshapes+xml",
    "drawingml.diagramdata+xml",
    "ms-office.drawingml.diagramdrawing+xml",
};
constexpr std::string_view kCorePropertiesType = "core-properties+xml";
constexpr std::string_view kWorksheetType = "worksheet+xml";
constexpr std::string_view kContentTypes = "[Content_Types].xml";

constexpr size_t kBytesOfType = 256, kBytesOfName = 96;  // in a tree

std::string InLowerCase(std::string text) {
  absl::AsciiStrToLower(&text);
  return text;
}

// The content types of members, by their names in lower case.
absl::StatusOr<std::map<std::string, std::string>> ReadContentTypes(Container* container) {
  const std::string name(kContentTypes);
  const size_t taken = container->patience()->taken();
  ASSIGN_OR_RETURN(const std::string part, container->Read(name));
  const absl::StatusOr<std::vector<XmlEvent>> events = ReadXmlEvents(part, container->patience());
  if (!events.ok()) return InMember(name, events.status());
  std::map<std::string, std::string> types, by_suffix;
  for (const XmlEvent& event : *events) {
    if (event.kind != XmlEvent::kStart) continue;
    if (!container->patience()->Takes(kBytesOfType)) return container->patience()->status();
    const std::string_view tag(part.data() + event.begin, event.end - event.begin);
    const std::string type = InLowerCase(AttributeNamed(tag, "ContentType"));
    if (LocalXmlName(event.name) == "Override") {
      types[ResolveMember("", InLowerCase(AttributeNamed(tag, "PartName")))] = type;
    } else if (LocalXmlName(event.name) == "Default") {
      by_suffix["." + InLowerCase(AttributeNamed(tag, "Extension"))] = type;
    }
  }
  for (const ZipArchive::Entry& entry : container->entries()) {
    const std::string lower = InLowerCase(entry.name);
    const auto type = by_suffix.find(lower.substr(std::min(lower.rfind('.'), lower.size())));
    if (type != by_suffix.end()) types.emplace(lower, type->second);
  }
  container->patience()->ReturnTo(taken);  // once the members are found
  return types;
}

// The attributes `name` of the elements `element` of a member.
absl::Status AddNames(Container* container, const std::string& member, std::string_view element,
                      std::set<std::string>* names) {
  Patience* const patience = container->patience();
  const size_t taken = patience->taken();
  size_t bytes = 0;
  ASSIGN_OR_RETURN(const std::string part, container->Read(member));
  const absl::StatusOr<std::vector<XmlEvent>> events = ReadXmlEvents(part, patience);
  if (!events.ok()) return InMember(member, events.status());
  for (const XmlEvent& event : *events) {
    if (event.kind != XmlEvent::kStart || LocalXmlName(event.name) != element) continue;
    const std::string_view tag(part.data() + event.begin, event.end - event.begin);
    std::string name = AttributeNamed(tag, "name");
    bytes += kBytesOfName + name.size();
    if (!patience->Takes(kBytesOfName + name.size())) return patience->status();
    names->insert(std::move(name));
  }
  patience->ReturnTo(taken + bytes);
  return absl::OkStatus();
}

// Strings of cells that are names of the columns of a table, too: Excel takes a file for damaged
// whose headers and column names differ.
using ColumnNames = std::shared_ptr<std::set<std::string>>;

absl::StatusOr<std::vector<Passage>> ReadCells(std::string_view part, const ColumnNames& columns,
                                               Patience* patience) {
  ASSIGN_OR_RETURN(std::vector<Passage> passages, ReadRichText(part, kOffice, patience));
  std::erase_if(passages, [&](const Passage& p) { return columns->count(XmlText(p.text)) > 0; });
  return passages;
}

bool EndsWith(std::string_view type, absl::Span<const std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(),
                     [&](std::string_view end) { return type.ends_with(end); });
}

absl::StatusOr<MemberReaders> FindOfficeMembers(Container* container, const DocumentOptions&) {
  using Types = std::map<std::string, std::string>;
  ASSIGN_OR_RETURN(const Types types, ReadContentTypes(container));
  const ColumnNames columns = std::make_shared<std::set<std::string>>();
  MemberReaders readers;
  for (const ZipArchive::Entry& entry : container->entries()) {
    const auto found = types.find(InLowerCase(entry.name));
    if (found == types.end()) continue;
    const std::string_view type = found->second;
    if (type.ends_with(kCorePropertiesType)) {
      readers[entry.name] = [](std::string_view part, Patience* patience) {
        return ReadRichText(part, kCoreProperties, patience);
      };
    } else if (type.ends_with("spreadsheetml.table+xml")) {
      RETURN_IF_ERROR(AddNames(container, entry.name, "tableColumn", columns.get()));
    } else if (type.ends_with("pivotcachedefinition+xml")) {
      RETURN_IF_ERROR(AddNames(container, entry.name, "cacheField", columns.get()));
    } else if (type.ends_with(kWorksheetType)) {
      readers[entry.name] = [columns](std::string_view part, Patience* patience) {
        const bool has_text = part.find("inlineStr") != part.npos;
        return has_text ? ReadCells(part, columns, patience) : std::vector<Passage>();
      };
    } else if (EndsWith(type, kTranslatedTypes)) {
      readers[entry.name] = [columns](std::string_view part, Patience* patience) {
        return ReadCells(part, columns, patience);
      };
    }
  }
  return readers;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Document>> OpenOfficeFile(const std::string& input,
                                                         const std::string& output,
                                                         const DocumentOptions& options) {
  return Container::Open(input, output, options, &FindOfficeMembers);
}

}  // namespace dragoman
