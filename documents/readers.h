// The readers of files that are one part (document.h), one .cc each.

#ifndef DRAGOMAN_DOCUMENTS_READERS_H_
#define DRAGOMAN_DOCUMENTS_READERS_H_

#include "documents/document.h"

namespace dragoman {

// Plain text: paragraphs, which end at an empty line.
absl::StatusOr<std::vector<Passage>> ReadText(std::string_view part,
                                              const DocumentOptions& options);

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_READERS_H_
