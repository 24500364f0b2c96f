// EPUB (EPUB 3.3): META-INF/container.xml leads to the package document, whose manifest lists the
// pages of the book.

#include <algorithm>
#include <string>
#include <utility>

#include "documents/container.h"
#include "documents/container_formats.h"
#include "documents/rich_text.h"
#include "documents/text_formats.h"
#include "engine/base/status.h"
#include "engine/base/xml_events.h"

namespace dragoman {
namespace {

constexpr std::pair<std::string_view, std::string_view> kBookSpaces[] = {
    {"dc", "http://purl.org/dc/elements/1.1/"},
    {"ncx", "http://www.daisy.org/z3986/2005/ncx/"},
};

// Other elements are blocks; names are in lower case.  The annotations of ruby, which say how words
// of the source language are pronounced, stay behind the words.
constexpr RoleOfElements kXhtmlElements[] = {
    {"", Role::kGroup,
     "a abbr acronym b bdi bdo big cite data del dfn em font i ins label mark q s small "
     "span strike strong sub sup time u rb ruby"},
    {"", Role::kCode, "code kbd samp tt var"},
    {"", Role::kMark, "rp rt rtc audio iframe img input object video wbr"},
    {"", Role::kLine, "br"},
    {"", Role::kSkipped, "math pre script select style svg textarea"},
};
constexpr RoleOfElements kNcxElements[] = {{"ncx", Role::kParagraph, "text"}};
constexpr RoleOfElements kPackageElements[] = {
    {"dc", Role::kParagraph, "title subject description"}};

constexpr XmlVocabulary kXhtml = {XmlVocabulary::kXhtml, {}, kXhtmlElements, XmlKind::kXhtml};
constexpr XmlVocabulary kNcx = {XmlVocabulary::kOpenDocument, kBookSpaces, kNcxElements,
                                XmlKind::kXhtml};
constexpr XmlVocabulary kPackage = {XmlVocabulary::kOpenDocument, kBookSpaces, kPackageElements,
                                    XmlKind::kXhtml};

// Bytes [begin, end) become `language`.
Passage SetLanguage(size_t begin, size_t end, const XmlEvent& event, const std::string& language) {
  return {.begin = begin, .end = end, .line = event.line, .write = [language](std::string_view) {
            return EscapeXmlAttribute(language);
          }};
}

// Of the outermost element: <html xml:lang="en" lang="en">, <package xml:lang="en">; and of the
// first <dc:language>.
std::vector<Passage> SetLanguages(std::string_view part, absl::Span<const XmlEvent> events,
                                  const std::string& language) {
  std::vector<Passage> set;
  bool root = true;
  for (const XmlEvent& event : events) {
    if (event.kind != XmlEvent::kStart) continue;
    if (std::exchange(root, false)) {
      for (const XmlAttribute& attribute : XmlAttributes(XmlBytes(part, event))) {
        if (attribute.name != "xml:lang" && attribute.name != "lang") continue;
        const size_t begin = static_cast<size_t>(attribute.value.data() - part.data());
        set.push_back(SetLanguage(begin, begin + attribute.value.size(), event, language));
      }
    } else if (event.name == "dc:language") {
      const XmlEvent& end = events[event.partner];
      if (event.end < end.begin) set.push_back(SetLanguage(event.end, end.begin, event, language));
      break;
    }
  }
  return set;
}

absl::StatusOr<std::vector<Passage>> ReadBookMember(std::string_view part,
                                                    const XmlVocabulary& vocabulary,
                                                    const std::string& language,
                                                    Patience* patience) {
  ASSIGN_OR_RETURN(std::vector<Passage> passages, ReadRichText(part, vocabulary, patience));
  if (language.empty()) return passages;
  ASSIGN_OR_RETURN(const std::vector<XmlEvent> events,
                   ReadXmlEvents(part, patience, XmlKind::kXhtml));
  for (Passage& set : SetLanguages(part, events, language)) {
    const auto after = std::find_if(passages.begin(), passages.end(),
                                    [&](const Passage& p) { return p.end > set.begin; });
    // A page may be a passage by itself: <b lang="en">dog</b>.
    if (after == passages.end() || after->begin >= set.end) passages.insert(after, std::move(set));
  }
  return passages;
}

// The pages that the manifest of a package document lists.
absl::Status AddPages(Container* container, const std::string& package, const std::string& language,
                      MemberReaders* readers) {
  ASSIGN_OR_RETURN(const std::string part, container->Read(package));
  const absl::StatusOr<std::vector<XmlEvent>> events =
      ReadXmlEvents(part, container->patience(), XmlKind::kXhtml);
  if (!events.ok()) return InMember(package, events.status());
  const auto add = [&](const std::string& name, const XmlVocabulary& vocabulary) {
    (*readers)[name] = [&vocabulary, language](std::string_view bytes, Patience* patience) {
      return ReadBookMember(bytes, vocabulary, language, patience);
    };
  };
  add(package, kPackage);
  for (const XmlEvent& event : *events) {
    if (event.kind != XmlEvent::kStart || LocalXmlName(event.name) != "item") continue;
    const std::string type = AttributeNamed(XmlBytes(part, event), "media-type");
    const std::string name = ResolveMember(package, AttributeNamed(XmlBytes(part, event), "href"));
    if (type == "application/xhtml+xml") add(name, kXhtml);
    if (type == "application/x-dtbncx+xml") add(name, kNcx);
  }
  return absl::OkStatus();
}

absl::StatusOr<MemberReaders> FindBookMembers(Container* container,
                                              const DocumentOptions& options) {
  constexpr char kContainer[] = "META-INF/container.xml";
  ASSIGN_OR_RETURN(const std::string part, container->Read(kContainer));
  const absl::StatusOr<std::vector<XmlEvent>> events = ReadXmlEvents(part, container->patience());
  if (!events.ok()) return InMember(kContainer, events.status());
  MemberReaders readers;
  for (const XmlEvent& event : *events) {
    if (event.kind != XmlEvent::kStart || LocalXmlName(event.name) != "rootfile") continue;
    const std::string type = AttributeNamed(XmlBytes(part, event), "media-type");
    if (!type.empty() && type != "application/oebps-package+xml") continue;  // the book as a PDF
    const std::string package =
        ResolveMember("", AttributeNamed(XmlBytes(part, event), "full-path"));
    RETURN_IF_ERROR(AddPages(container, package, options.target_language, &readers));
  }
  if (!readers.empty()) return readers;
  return InvalidArgumentError(kContainer, ": names no package document");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Document>> OpenEpub(const std::string& input,
                                                   const std::string& output,
                                                   const DocumentOptions& options) {
  return Container::Open(input, output, options, &FindBookMembers);
}

}  // namespace dragoman
