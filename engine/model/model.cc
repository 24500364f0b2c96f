#include "engine/model/model.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/model/formats/marian.h"
#include "engine/model/formats/safetensors.h"

namespace dragoman {
namespace {

using Table = std::shared_ptr<const Matrix<float>>;

// Reads the first of `names` that the checkpoint has.  Tied tables stand once, under any of them.
absl::StatusOr<Table> ReadEmbeddings(const Checkpoint& checkpoint,
                                     const std::vector<std::string>& names, int vocabulary,
                                     int d_model) {
  std::string name = names.front();
  for (const std::string& candidate : names) {
    if (checkpoint.Has(candidate)) {
      name = candidate;
      break;
    }
  }
  ASSIGN_OR_RETURN(Matrix<float> table, checkpoint.ReadMatrix(name, vocabulary, d_model));
  return std::make_shared<const Matrix<float>>(std::move(table));
}

struct Embeddings {
  Table source, target;
};

absl::StatusOr<Embeddings> ReadEmbeddings(const Checkpoint& checkpoint,
                                          const MarianConfig& config) {
  const ModelConfig& model = config.model;
  const std::string encoder = "model.encoder.embed_tokens.weight";
  const std::string decoder = "model.decoder.embed_tokens.weight";
  const std::string output = "lm_head.weight";
  Embeddings embeddings;
  if (config.share_embeddings) {
    ASSIGN_OR_RETURN(embeddings.source,
                     ReadEmbeddings(checkpoint, {"model.shared.weight", encoder, decoder, output},
                                    model.source_vocabulary, model.d_model));
    embeddings.target = embeddings.source;
    return embeddings;
  }
  ASSIGN_OR_RETURN(embeddings.source,
                   ReadEmbeddings(checkpoint, {encoder}, model.source_vocabulary, model.d_model));
  ASSIGN_OR_RETURN(embeddings.target, ReadEmbeddings(checkpoint, {decoder, output},
                                                     model.target_vocabulary, model.d_model));
  return embeddings;
}

absl::Status CheckVocabulary(const char* side, int tokenizer, int model) {
  if (tokenizer <= model) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the tokenizer has ", tokenizer, " ", side,
                                                 " tokens, want at most the model's ", model));
}

// Names the content of a checkpoint: it changes with any tensor's name or value.
std::string Digest(const Checkpoint& checkpoint) {
  uint64_t digest = 0;
  for (const auto& [name, tensor] : checkpoint.tensors()) {
    digest = XXH3_64bits_withSeed(name.data(), name.size(), digest);
    digest = XXH3_64bits_withSeed(tensor.bytes.data(), tensor.bytes.size(), digest);
  }
  return absl::StrCat(absl::Hex(digest, absl::kZeroPad16));
}

// The same error, saying which model it speaks of.
absl::Status InModel(const std::string& directory, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat("model ", directory, ": ", status.message()));
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Model>> Model::Load(const std::string& name,
                                                         const std::string& directory,
                                                         Precision precision,
                                                         const ShortlistSource& shortlist) {
  std::shared_ptr<Model> model(new Model());
  model->name_ = name;
  model->precision_ = Resolve(precision);
  if (absl::Status status = model->LoadFrom(directory, shortlist); !status.ok()) {
    return InModel(directory, status);
  }
  return model;
}

absl::Status Model::LoadFrom(const std::string& directory, const ShortlistSource& shortlist) {
  ASSIGN_OR_RETURN(const MarianConfig config, ReadMarianConfig(directory));
  config_ = config.model;
  config_.bfloat16_keys_values = precision_ != Precision::kFloat32;
  config_.selective_output = !shortlist.file.empty();
  generation_ = config.generation;
  ASSIGN_OR_RETURN(tokenizer_, Tokenizer::Load(directory));
  RETURN_IF_ERROR(
      CheckVocabulary("source", tokenizer_->source_vocabulary_size(), config_.source_vocabulary));
  RETURN_IF_ERROR(
      CheckVocabulary("target", tokenizer_->target_vocabulary_size(), config_.target_vocabulary));
  if (!shortlist.file.empty()) {
    ASSIGN_OR_RETURN(shortlist_, Shortlist::Load(shortlist, *tokenizer_, config_.source_vocabulary,
                                                 config_.target_vocabulary, config_.eos_id));
  }
  ASSIGN_OR_RETURN(const Checkpoint checkpoint, OpenSafetensors(directory + "/model.safetensors"));
  version_ = Digest(checkpoint);
  ASSIGN_OR_RETURN(const Embeddings embeddings, ReadEmbeddings(checkpoint, config));
  ASSIGN_OR_RETURN(encoder_, Encoder::Create(checkpoint, config_, embeddings.source, precision_));
  ASSIGN_OR_RETURN(decoder_, Decoder::Create(checkpoint, config_, embeddings.target, precision_));
  return absl::OkStatus();
}

}  // namespace dragoman
