// OpenDocument: ODT, ODP and ODS (ISO/IEC 26300).

#include <string>
#include <utility>

#include "documents/container.h"
#include "documents/container_formats.h"
#include "documents/rich_text.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr std::pair<std::string_view, std::string_view> kOpenDocumentSpaces[] = {
    {"text", "urn:oasis:names:tc:opendocument:xmlns:text:1.0"},
    {"table", "urn:oasis:names:tc:opendocument:xmlns:table:1.0"},
    {"office", "urn:oasis:names:tc:opendocument:xmlns:office:1.0"},
    {"style", "urn:oasis:names:tc:opendocument:xmlns:style:1.0"},
    {"presentation", "urn:oasis:names:tc:opendocument:xmlns:presentation:1.0"},
    {"dc", "http://purl.org/dc/elements/1.1/"},
};

constexpr RoleOfElements kOpenDocumentElements[] = {
    {"text", Role::kParagraph, "p h index-title-template"},
    {"text", Role::kRun, "span"},
    {"text", Role::kGroup, "a meta"},
    {"text", Role::kSpace, "s tab line-break"},
    {"text", Role::kIgnored, "soft-page-break"},
    {"text", Role::kOrdered,
     "bookmark-start bookmark-end reference-mark-start reference-mark-end change-start "
     "change-end toc-mark-start toc-mark-end user-index-mark-start user-index-mark-end "
     "alphabetical-index-mark-start alphabetical-index-mark-end"},
    {"text", Role::kSkipped, "tracked-changes"},
    {"office", Role::kNote, "annotation"},
    {"office", Role::kOrdered, "annotation-end"},
    {"presentation", Role::kParagraph, "header-decl footer-decl"},
    {"table", Role::kCell, "table-cell"},
    {"table", Role::kSkipped, "tracked-changes"},
    {"style", Role::kStyle, "style"},
};

constexpr RoleOfElements kOpenDocumentProperties[] = {
    {"dc", Role::kParagraph, "title subject description"}};

constexpr XmlVocabulary kOpenDocumentText = {XmlVocabulary::kOpenDocument, kOpenDocumentSpaces,
                                             kOpenDocumentElements};
constexpr XmlVocabulary kOpenDocumentMeta = {XmlVocabulary::kOpenDocument, kOpenDocumentSpaces,
                                             kOpenDocumentProperties};

absl::StatusOr<MemberReaders> FindOpenDocumentMembers(Container* container,
                                                      const DocumentOptions&) {
  constexpr char kManifest[] = "META-INF/manifest.xml";
  if (container->Has(kManifest)) {
    ASSIGN_OR_RETURN(const std::string manifest, container->Read(kManifest));
    if (manifest.find("encryption-data") != manifest.npos) {
      return absl::InvalidArgumentError("is encrypted with a password");
    }
  }
  if (!container->Has("content.xml"))
    return absl::InvalidArgumentError("has no member content.xml");
  MemberReaders readers;
  for (const ZipArchive::Entry& entry : container->entries()) {
    const std::string_view name = entry.name;
    // "Object 1/content.xml" is a chart.
    if (name == "content.xml" || name == "styles.xml" || name.ends_with("/content.xml")) {
      readers[entry.name] = [](std::string_view part, Patience* patience) {
        return ReadRichText(part, kOpenDocumentText, patience);
      };
    } else if (name == "meta.xml") {
      readers[entry.name] = [](std::string_view part, Patience* patience) {
        return ReadRichText(part, kOpenDocumentMeta, patience);
      };
    }
  }
  return readers;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Document>> OpenOpenDocument(const std::string& input,
                                                           const std::string& output,
                                                           const DocumentOptions& options) {
  return Container::Open(input, output, options, &FindOpenDocumentMembers);
}

}  // namespace dragoman
