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

constexpr RoleOfElement kOpenDocumentElements[] = {
    {"text", "p", Role::kParagraph},
    {"text", "h", Role::kParagraph},
    {"text", "span", Role::kRun},
    {"text", "a", Role::kGroup},
    {"text", "meta", Role::kGroup},
    {"text", "s", Role::kSpace},
    {"text", "tab", Role::kSpace},
    {"text", "line-break", Role::kSpace},
    {"text", "soft-page-break", Role::kIgnored},
    {"text", "bookmark-start", Role::kOrdered},
    {"text", "bookmark-end", Role::kOrdered},
    {"text", "reference-mark-start", Role::kOrdered},
    {"text", "reference-mark-end", Role::kOrdered},
    {"text", "change-start", Role::kOrdered},
    {"text", "change-end", Role::kOrdered},
    {"text", "toc-mark-start", Role::kOrdered},
    {"text", "toc-mark-end", Role::kOrdered},
    {"text", "user-index-mark-start", Role::kOrdered},
    {"text", "user-index-mark-end", Role::kOrdered},
    {"text", "alphabetical-index-mark-start", Role::kOrdered},
    {"text", "alphabetical-index-mark-end", Role::kOrdered},
    {"text", "tracked-changes", Role::kSkipped},
    {"text", "index-title-template", Role::kParagraph},
    {"office", "annotation", Role::kNote},
    {"office", "annotation-end", Role::kOrdered},
    {"presentation", "header-decl", Role::kParagraph},
    {"presentation", "footer-decl", Role::kParagraph},
    {"table", "table-cell", Role::kCell},
    {"table", "tracked-changes", Role::kSkipped},
    {"style", "style", Role::kStyle},
};

constexpr RoleOfElement kOpenDocumentProperties[] = {
    {"dc", "title", Role::kParagraph},
    {"dc", "subject", Role::kParagraph},
    {"dc", "description", Role::kParagraph},
};

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
