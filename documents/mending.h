// What a translation must not do to its passage, whoever made it.
//
//   a passage with words            has words in the translation, or stays as it is
//   a line of it with words         the same, if the translation has as many lines
//   no empty line in it             no empty line in the translation, which could end a block
//   `a`, `b` or two links, apart    do not touch in the translation; nor does code touch a word

#ifndef DRAGOMAN_DOCUMENTS_MENDING_H_
#define DRAGOMAN_DOCUMENTS_MENDING_H_

#include <optional>
#include <string>
#include <string_view>

#include "documents/document.h"

namespace dragoman {

// The translation of the text of a passage, mended; none if the passage stays as it is.
std::optional<std::string> MendTranslation(const Passage& passage, std::string_view translation);

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_MENDING_H_
