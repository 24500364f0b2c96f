// Refuses directories whose texts would become other tokens than those that the model was trained
// on.  Such a model loads, and translates nonsense.

#ifndef DRAGOMAN_ENGINE_FAMILIES_TOKENIZER_CHECK_H_
#define DRAGOMAN_ENGINE_FAMILIES_TOKENIZER_CHECK_H_

#include "absl/status/status.h"
#include "engine/families/adapter.h"
#include "engine/text/tokenizer.h"

namespace dragoman {

// UNIMPLEMENTED if the directory names a tokenizer class that the adapter does not know.
absl::Status CheckTokenizerClass(const Adapter& adapter, const DirectoryFiles& files);

// The directory's piece models must be those of the tokenizer that was opened from it:
//
//   - A vocabulary of SentencePiece needs a piece model.  NOT_FOUND if there is none beside it,
//     UNIMPLEMENTED if there are some but none was read.
//   - UNIMPLEMENTED if there is a piece model of other pieces, which nothing has read.  One whose
//     pieces are all known is what a conversion left over.
absl::Status CheckPieces(const Tokenizer& tokenizer, const DirectoryFiles& files);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_FAMILIES_TOKENIZER_CHECK_H_
