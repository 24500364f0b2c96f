// Refuses directories whose texts would become other tokens than those that the model was trained
// on.  Such a model loads, and translates nonsense.

#ifndef DRAGOMAN_ENGINE_FAMILIES_TOKENIZER_CHECK_H_
#define DRAGOMAN_ENGINE_FAMILIES_TOKENIZER_CHECK_H_

#include "absl/status/status.h"
#include "engine/families/adapter.h"

namespace dragoman {

// UNIMPLEMENTED if the directory names a tokenizer class that the adapter does not know.
absl::Status CheckTokenizerClass(const Adapter& adapter, const DirectoryFiles& files);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_FAMILIES_TOKENIZER_CHECK_H_
