// The formats that are containers (container.h), one .cc for each family.

#ifndef DRAGOMAN_DOCUMENTS_CONTAINER_FORMATS_H_
#define DRAGOMAN_DOCUMENTS_CONTAINER_FORMATS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "documents/document.h"

namespace dragoman {

// DOCX: the document, headers, footers, notes, comments, text boxes.  PPTX: slides and their notes.
// XLSX: text of cells, comments.  All of them: charts' titles, diagrams, the title of the file.
absl::StatusOr<std::unique_ptr<Document>> OpenOfficeFile(const std::string& input,
                                                         const std::string& output,
                                                         const DocumentOptions& options);

// ODT, ODP and ODS: the content, headers and footers, notes, comments, text of cells, the title.
absl::StatusOr<std::unique_ptr<Document>> OpenOpenDocument(const std::string& input,
                                                           const std::string& output,
                                                           const DocumentOptions& options);

// EPUB: the XHTML of the book, its table of contents, its title.  Its language becomes the
// target's, if that is known.
absl::StatusOr<std::unique_ptr<Document>> OpenEpub(const std::string& input,
                                                   const std::string& output,
                                                   const DocumentOptions& options);

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_CONTAINER_FORMATS_H_
