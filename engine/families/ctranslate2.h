// What the adapters of CTranslate2's directories and of Argos packages, which hold one, share.  A
// directory is model.bin (formats/ctranslate2_file.h), vocabularies and, from version 6 of the
// format on, a config.json.

#ifndef DRAGOMAN_ENGINE_FAMILIES_CTRANSLATE2_H_
#define DRAGOMAN_ENGINE_FAMILIES_CTRANSLATE2_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "engine/base/json.h"
#include "engine/formats/ctranslate2_file.h"
#include "engine/spec/config.h"
#include "engine/text/tokenizer.h"

namespace dragoman {

// What config.json, or older variables, say of the tokens around a sentence.
struct CTranslate2Tokens {
  std::string unk = "<unk>";
  std::string bos = "<s>";
  std::string eos = "</s>";
  std::string start = "<s>";  // of the decoder; "": the caller says
  bool add_source_bos = false;
  bool add_source_eos = false;
};

// A directory, opened.  Nothing of the weights is read yet.
struct CTranslate2Model {
  std::string path;
  CTranslate2File file;
  nlohmann::json config;  // an empty object if there is no config.json
  CTranslate2Tokens tokens;
  std::shared_ptr<const Vocabulary> source;
  std::shared_ptr<const Vocabulary> target;  // the same object if it is shared
};

absl::StatusOr<CTranslate2Model> OpenCTranslate2Model(const std::string& directory);

// What the variables say of the network.  UNIMPLEMENTED, naming the variable, for a network that is
// no encoder-decoder Transformer of ours; INVALID_ARGUMENT if the variables contradict each other.
absl::StatusOr<ModelSpec> ReadCTranslate2Spec(const CTranslate2Model& model);

// The variables under canonical names (model_directory.h), with fused projections taken apart.
absl::StatusOr<Checkpoint> CTranslate2Tensors(const CTranslate2Model& model, const ModelSpec& spec);

// The search that CTranslate2 makes unless it is told otherwise.
GenerationConfig CTranslate2Search();

// The tokenizer of a model whose pieces come from these SentencePiece models.
absl::StatusOr<TokenizerParts> CTranslate2TokenizerParts(
    const CTranslate2Model& model, const ModelSpec& spec,
    std::shared_ptr<const PieceModel> source_pieces,
    std::shared_ptr<const PieceModel> target_pieces);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_FAMILIES_CTRANSLATE2_H_
