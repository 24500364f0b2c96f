// Reads tokenizer.json, the file of Hugging Face's tokenizers library, which transformers 5 saves
// instead of a SentencePiece model.
//
// It describes five stages; whatever the families here do not use is refused by its name:
//
//   added_tokens    literal tokens, which are cut out of the text first
//   normalizer      Precompiled, Replace, Strip; Sequence of them
//   pre_tokenizer   Metaspace, WhitespaceSplit
//   model           Unigram, or BPE with merges
//   post_processor  TemplateProcessing: the tokens around a text

#ifndef DRAGOMAN_ENGINE_TEXT_TOKENIZER_JSON_H_
#define DRAGOMAN_ENGINE_TEXT_TOKENIZER_JSON_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/text/piece_model.h"
#include "engine/text/tokenizer.h"

namespace dragoman {

struct TokenizerJson {
  std::shared_ptr<const PieceModel> pieces;  // its ids are those of the model
  std::vector<SpecialToken> added;
  std::vector<int32_t> before, after;  // the tokens around a text
};

// NOT_FOUND: there is no file; INVALID_ARGUMENT: it is malformed; UNIMPLEMENTED: a part of it is
// not supported.
absl::StatusOr<TokenizerJson> ReadTokenizerJson(const std::string& path);

// Only the lists of the file, which is quicker.
struct TokenizerLists {
  std::vector<std::string> pieces;  // by their ids
  std::vector<SpecialToken> added;
};
absl::StatusOr<TokenizerLists> ReadTokenizerLists(const std::string& path);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_TOKENIZER_JSON_H_
