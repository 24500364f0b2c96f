// Shared by the adapters of CTranslate2's directories and of Argos packages, which contain one.
// Such a directory has model.bin (formats/ctranslate2_file.h), vocabularies and, from version 6 of
// the format on, a config.json.

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

// The tokens around a sentence, according to config.json or older variables.
struct CTranslate2Tokens {
  std::string unk = "<unk>";
  std::string bos = "<s>";
  std::string eos = "</s>";
  std::string start = "<s>";  // of the decoder; "": the caller chooses
  bool add_source_bos = false;
  bool add_source_eos = false;
};

// An open directory.  Nothing of the weights is read yet.
struct CTranslate2Model {
  std::string path;
  CTranslate2File file;
  nlohmann::json config;  // an empty object if there is no config.json
  CTranslate2Tokens tokens;
  std::shared_ptr<const Vocabulary> source;
  std::shared_ptr<const Vocabulary> target;  // the same object if it is shared
};

absl::StatusOr<CTranslate2Model> OpenCTranslate2Model(const std::string& directory);

// The id of a token; like CTranslate2, that of the unknown token for one that the vocabulary lacks.
// REQUIRES: OpenCTranslate2Model made the vocabulary, with the same tokens.
int32_t IdOrUnknown(const Vocabulary& vocabulary, const std::string& token,
                    const CTranslate2Tokens& tokens);

// The network that the variables describe.  UNIMPLEMENTED, naming the variable, for a network that
// is not an encoder-decoder Transformer we support; INVALID_ARGUMENT if the variables contradict
// each other.
absl::StatusOr<ModelSpec> ReadCTranslate2Spec(const CTranslate2Model& model);

// The variables under canonical names (model_directory.h), with fused projections split.  Facts,
// which ReadCTranslate2Spec and OpenCTranslate2Model read, are not among them; any other variable
// is.
absl::StatusOr<Checkpoint> CTranslate2Tensors(const CTranslate2Model& model);

// CTranslate2's own defaults for a search.
GenerationConfig CTranslate2Search();

// The tokenizer of a model whose pieces come from these SentencePiece models.  Around a text are
// the tokens that CTranslate2 adds.
TokenizerParts CTranslate2TokenizerParts(const CTranslate2Model& model,
                                         std::shared_ptr<const PieceModel> source_pieces,
                                         std::shared_ptr<const PieceModel> target_pieces);

// Adds what users of the toolkit that the model comes from put around a text: the end of a sentence
// and languages.  `small100`: that is SMaLL-100's.  INVALID_ARGUMENT if the vocabulary lacks them.
absl::Status AddToolkitHabits(const CTranslate2Model& model, const ModelSpec& spec, bool small100,
                              TokenizerParts* parts);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_FAMILIES_CTRANSLATE2_H_
