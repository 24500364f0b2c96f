// What the configuration files of Hugging Face's encoder-decoder models have in common: bounds,
// special tokens and the search.

#ifndef DRAGOMAN_ENGINE_FAMILIES_HUGGING_FACE_H_
#define DRAGOMAN_ENGINE_FAMILIES_HUGGING_FACE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/families/adapter.h"
#include "engine/formats/json_fields.h"
#include "engine/spec/config.h"

namespace dragoman {

// Bounds far above any real model.  A number beyond them is a mistake, and arithmetic could
// overflow.
inline constexpr int kMaxWidth = 1 << 16;
inline constexpr int kMaxLayers = 1 << 10;
inline constexpr int kMaxVocabulary = 10'000'000;
inline constexpr int kMaxLength = 1 << 20;
inline constexpr int kMaxPositionTable = 1 << 25;  // positions x d_model

// The fields of config.json, and those that generation_config.json may override.
struct ConfigFields {
  explicit ConfigFields(const DirectoryFiles& files);

  JsonFields model;
  JsonFields search;
};

// The fields of tokenizer_config.json.
JsonFields TokenizerFields(const DirectoryFiles& files);

// Whether tokenizer_config.json names this class of tokenizer.
bool HasTokenizerClass(const DirectoryFiles& files, const char* name);

// Whether the directory has the tokenizer of SMaLL-100, whose models say that they are M2M100's.
bool HasSmall100Tokenizer(const DirectoryFiles& files);

// "xx" of a piece of the form `>>xx<<`, or "".
std::string TargetCode(std::string_view piece);

// The language codes of all pieces of that form, sorted: the targets of a multilingual
// model of OPUS-MT.
std::vector<std::string> TargetCodes(const Vocabulary& vocabulary);

// What goes around a text of OPUS-MT: `eos` behind it, and >>xx<< before it if the vocabulary has
// that for the target language.
std::function<Frame(const LanguagePair&)> TargetTagFrame(
    std::shared_ptr<const Vocabulary> vocabulary, int32_t eos);

// The language tokens of a model for many languages.
struct LanguageTags {
  std::map<std::string, int32_t> ids;  // by the codes
  LanguagePair own;                    // the languages of a request that names none; "": none
  int32_t eos = 0;
  bool source_last = false;      // that of the source stands behind the text, else before it
  bool starts = false;           // the decoder starts with that of the target, else generates it
  bool target_in_front = false;  // that of the target stands before the text, and no other one is
};
std::function<Frame(const LanguagePair&)> TaggedFrame(LanguageTags tags);

// The code of English among these; "" if it is not.
std::string EnglishOf(const std::vector<std::string>& codes);

// The languages of a request that names none, by tokenizer_config.json; "" for none.
absl::StatusOr<LanguagePair> ReadOwnPair(const DirectoryFiles& files,
                                         const std::vector<std::string>& codes);

// The object in a file of the directory; an empty one if there is no such file.
absl::StatusOr<nlohmann::json> ReadOptionalJson(const DirectoryFiles& files,
                                                const std::string& file);

// Whether config.json names this type of model or, where it names none, this architecture.
bool IsModel(const DirectoryFiles& files, const char* model_type, const char* architecture);

// UNIMPLEMENTED unless config.json's architecture, if it names one, is this one.
absl::Status CheckArchitecture(const JsonFields& fields, const char* architecture);

// One of the activation functions that Hugging Face names.  UNIMPLEMENTED for those we do not have.
absl::StatusOr<Activation> ReadActivation(const JsonFields& fields, const char* field,
                                          Activation otherwise);

// Reads the shape of both stacks under the names that most families use: d_model, encoder_layers,
// encoder_attention_heads, encoder_ffn_dim and so on, vocab_size (of both sides),
// max_position_embeddings, scale_embedding and activation_function.
struct StackDefaults {
  Activation activation = Activation::kGelu;
  bool scale_embedding = false;
};
absl::Status ReadStacks(const JsonFields& fields, StackDefaults defaults, ModelSpec* spec);

// The defaults of a family's own configuration class.
struct SpecialTokens {
  std::optional<int32_t> eos, pad;  // nullopt: required
  bool starts_with_eos = false;     // the decoder; otherwise it starts with <pad>
};

// eos_token_id, pad_token_id and decoder_start_token_id.
// REQUIRES: the vocabularies are known.
absl::Status ReadSpecialTokens(const JsonFields& fields, SpecialTokens defaults, ModelSpec* spec);

// The tokens that other files add to a SentencePiece model, with their ids: those of
// added_tokens.json and of tokenizer_config.json's added_tokens_decoder.
absl::StatusOr<std::vector<SpecialToken>> ReadAddedTokens(const DirectoryFiles& files,
                                                          const ModelSpec& spec);

// The additional_special_tokens of special_tokens_map.json, or of tokenizer_config.json, in order.
absl::StatusOr<std::vector<std::string>> ReadAdditionalSpecialTokens(const DirectoryFiles& files);

// The file of Hugging Face's tokenizers library.
inline constexpr char kTokenizerJson[] = "tokenizer.json";

// The pieces of a directory and its added tokens: those of a SentencePiece model, and the files
// beside it, or, where there is none, those of tokenizer.json.
struct PieceList {
  std::vector<std::string> pieces;  // by the ids of the file
  std::vector<SpecialToken> added;
  bool is_json = false;  // its ids are those of the model
};
// `names`: of the SentencePiece model.  NOT_FOUND if there is no file; one that is malformed need
// not be noticed.
absl::StatusOr<PieceList> ListPieces(const DirectoryFiles& files, const ModelSpec& spec,
                                     std::vector<const char*> names);

// The same, and what cuts a text into these pieces.
struct DirectoryPieces {
  PieceList list;
  std::shared_ptr<const PieceModel> model;
  Frame around;  // the tokens around a text, if is_json
};
absl::StatusOr<DirectoryPieces> OpenPieces(const DirectoryFiles& files, const ModelSpec& spec,
                                           std::vector<const char*> names);

// Fills in what tokenizers of one SentencePiece model, or of tokenizer.json, have in common.
void SetPieces(const DirectoryPieces& pieces, TokenizerParts* parts);

// UNIMPLEMENTED if tokenizer.json puts other tokens around a text than `frame` does; of the tokens
// of `languages`, any will do.
absl::Status CheckFrame(const DirectoryFiles& files, const DirectoryPieces& pieces,
                        const Frame& frame, const std::map<std::string, int32_t>& languages);

// Adds tokens that no text is cut into; where their texts are not text, no translation has them.
absl::Status AddSpecialTokens(const std::vector<SpecialToken>& tokens, TokenizerParts* parts,
                              Vocabulary* vocabulary);

// The vocabulary of the pieces by their ids.
absl::StatusOr<Vocabulary> VocabularyOf(const PieceList& list);

// The vocabulary of a SentencePiece model in fairseq's numbering: <s>, <pad>, </s> and <unk> are 0
// to 3, and the pieces from the model's third on have its id + 1.
absl::StatusOr<Vocabulary> FairseqVocabulary(const PieceList& list);

// The search that generation_config.json asks for, or else config.json (where older models keep
// it), or else Hugging Face's defaults.
absl::StatusOr<GenerationConfig> ReadGeneration(const JsonFields& fields, const ModelSpec& spec);

// Configures a model that came from fairseq: pre-norm with a final norm, and </s>, token 2, starts
// the decoder.  `spec` has what else differs.
absl::StatusOr<ModelConfig> ConfigureFairseq(const DirectoryFiles& files, const char* architecture,
                                             StackDefaults defaults, ModelSpec spec);

// Opens a directory whose tensors already have the canonical names: an adapter's open_tensors.
absl::StatusOr<Checkpoint> OpenCanonicalTensors(const DirectoryFiles& files, const ModelSpec& spec);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_FAMILIES_HUGGING_FACE_H_
