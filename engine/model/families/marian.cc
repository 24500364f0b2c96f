// Marian models as Hugging Face keeps them: OPUS-MT.  Post-norm, sinusoidal positions in two halves
// from 0, all tables tied to model.shared unless the vocabularies are separate.  The decoder starts
// with <pad>.

#include "engine/base/status.h"
#include "engine/model/families/adapter.h"
#include "engine/model/families/hugging_face.h"
#include "engine/model/formats/open_weights.h"

namespace dragoman {
namespace {

constexpr char kArchitecture[] = "MarianMTModel";

bool Recognizes(const DirectoryFiles& files) { return IsModel(files, "marian", kArchitecture); }

absl::Status ReadVocabularies(const JsonFields& fields, ModelSpec* spec) {
  RETURN_IF_ERROR(fields.Read("share_encoder_decoder_embeddings", &spec->share_embeddings));
  bool tied = true;
  RETURN_IF_ERROR(fields.Read("tie_word_embeddings", &tied));
  if (!tied) return fields.Unknown("tie_word_embeddings", "true: the output is the embedding's");
  // Hugging Face ignores decoder_vocab_size where the embeddings are shared.
  if (spec->share_embeddings) return absl::OkStatus();
  return fields.Read("decoder_vocab_size", 1, kMaxVocabulary, &spec->target_vocabulary);
}

absl::StatusOr<ModelConfig> Configure(const DirectoryFiles& files) {
  const ConfigFields fields(files);
  ModelConfig config;
  config.spec.architecture = kArchitecture;
  RETURN_IF_ERROR(CheckArchitecture(fields.model, kArchitecture));
  RETURN_IF_ERROR(ReadStacks(fields.model, Activation::kGelu, &config.spec));
  RETURN_IF_ERROR(ReadVocabularies(fields.model, &config.spec));
  RETURN_IF_ERROR(ReadSpecialTokens(fields.search, &config.spec));
  ASSIGN_OR_RETURN(config.generation, ReadGeneration(fields.search, config.spec));
  return config;
}

absl::StatusOr<std::unique_ptr<const Tokenizer>> OpenTokenizer(const DirectoryFiles& files,
                                                               const ModelSpec& spec) {
  return Tokenizer::Load(files.path);
}

absl::StatusOr<Checkpoint> OpenTensors(const DirectoryFiles& files, const ModelSpec& spec) {
  return OpenWeights(files.path);
}

}  // namespace

extern const Adapter marian_adapter;
const Adapter marian_adapter = {"Marian", Recognizes, Configure, OpenTokenizer, OpenTensors};

}  // namespace dragoman
