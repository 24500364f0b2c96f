// What the configuration files of Hugging Face's encoder-decoder models have in common: bounds,
// special tokens and the search.

#ifndef DRAGOMAN_ENGINE_FAMILIES_HUGGING_FACE_H_
#define DRAGOMAN_ENGINE_FAMILIES_HUGGING_FACE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/families/adapter.h"
#include "engine/formats/json_fields.h"
#include "engine/spec/config.h"

namespace dragoman {

// Bounds far above any real model: beyond them a number is a mistake, and arithmetic could
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

// The object in a file of the directory; an empty one if there is no such file.
absl::StatusOr<nlohmann::json> ReadOptionalJson(const DirectoryFiles& files,
                                                const std::string& file);

// Whether config.json names this type of model or, where it names none, this architecture.
bool IsModel(const DirectoryFiles& files, const char* model_type, const char* architecture);

// UNIMPLEMENTED unless config.json's architecture, if it names one, is this one.
absl::Status CheckArchitecture(const JsonFields& fields, const char* architecture);

// A fraction of the functions that Hugging Face knows by name.  UNIMPLEMENTED for the others.
absl::StatusOr<Activation> ReadActivation(const JsonFields& fields, const char* field,
                                          Activation otherwise);

// The shape of both stacks under the names that most families give it: d_model,
// encoder_layers, encoder_attention_heads, encoder_ffn_dim and so on, vocab_size (of both sides),
// max_position_embeddings, scale_embedding and activation_function.
struct StackDefaults {
  Activation activation = Activation::kGelu;
  bool scale_embedding = false;
};
absl::Status ReadStacks(const JsonFields& fields, StackDefaults defaults, ModelSpec* spec);

// The defaults of a family's own configuration class.
struct SpecialTokens {
  std::optional<int32_t> eos, pad;  // nullopt: has to be given
  bool starts_with_eos = false;     // the decoder; otherwise with <pad>
};

// eos_token_id, pad_token_id and decoder_start_token_id.
// REQUIRES: the vocabularies are known.
absl::Status ReadSpecialTokens(const JsonFields& fields, SpecialTokens defaults, ModelSpec* spec);

// The tokens that the files beside a SentencePiece model add to it, with the ids that they give:
// those of added_tokens.json and of tokenizer_config.json's added_tokens_decoder.
absl::StatusOr<std::vector<SpecialToken>> ReadAddedTokens(const DirectoryFiles& files,
                                                          const ModelSpec& spec);

// special_tokens_map.json's additional_special_tokens, or tokenizer_config.json's, in their order.
absl::StatusOr<std::vector<std::string>> ReadAdditionalSpecialTokens(const DirectoryFiles& files);

// The vocabulary of a SentencePiece model as fairseq numbers it: <s>, <pad>, </s> and <unk> are 0
// to 3, and the pieces from the model's third on have its id + 1.
absl::StatusOr<Vocabulary> FairseqVocabulary(const PieceModel& pieces);

// What generation_config.json asks for, else config.json (older models keep it there), else Hugging
// Face's defaults.
absl::StatusOr<GenerationConfig> ReadGeneration(const JsonFields& fields, const ModelSpec& spec);

// The tensors of the directory, whose names are the canonical ones: an adapter's open_tensors.
absl::StatusOr<Checkpoint> OpenCanonicalTensors(const DirectoryFiles& files, const ModelSpec& spec);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_FAMILIES_HUGGING_FACE_H_
