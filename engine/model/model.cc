#include "engine/model/model.h"

#include <malloc.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "engine/model/formats/marian.h"
#include "engine/model/formats/safetensors.h"

namespace dragoman {
namespace {

// The first of `names` that the checkpoint has, or the first of all.  Tied tables stand once, under
// any of them.
std::string FirstOf(const std::vector<std::string>& names, const Checkpoint& checkpoint) {
  for (const std::string& name : names) {
    if (checkpoint.Has(name)) return name;
  }
  return names.front();
}

// Calls take(first token, embeddings) for a table [vocabulary, d_model], some tiles of the output
// projection at a time: a whole one in float32 is most of what loading would need.
absl::Status ReadTable(const Checkpoint& checkpoint, const std::string& name, int vocabulary,
                       int d_model,
                       absl::FunctionRef<absl::Status(int, MatrixView<const float>)> take) {
  constexpr int kTokens = 8 * OutputProjection::kTile;
  for (int first = 0; first < vocabulary; first += kTokens) {
    const int end = std::min(first + kTokens, vocabulary);
    ASSIGN_OR_RETURN(const Matrix<float> embeddings,
                     checkpoint.ReadRows(name, vocabulary, d_model, first, end));
    RETURN_IF_ERROR(take(first, embeddings.view()));
  }
  return absl::OkStatus();
}

constexpr char kShared[] = "model.shared.weight";
constexpr char kSource[] = "model.encoder.embed_tokens.weight";
constexpr char kTarget[] = "model.decoder.embed_tokens.weight";
constexpr char kOutput[] = "lm_head.weight";

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
    checkpoint.Forget(tensor);
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
                                                         const ModelOptions& options) {
  std::shared_ptr<Model> model(new Model());
  model->name_ = name;
  model->precision_ = Resolve(options.precision);
  if (absl::Status status = model->LoadFrom(directory, options); !status.ok()) {
    return InModel(directory, status);
  }
#ifdef __GLIBC__
  malloc_trim(0);  // gives back what only loading needed
#endif
  return model;
}

absl::Status Model::LoadFrom(const std::string& directory, const ModelOptions& options) {
  DRAGOMAN_CHECK(options.keys_values != Precision::kInt8);
  const Precision keys_values =
      options.keys_values == Precision::kAuto ? precision_ : options.keys_values;
  const ShortlistSource& shortlist = options.shortlist;
  ASSIGN_OR_RETURN(const MarianConfig config, ReadMarianConfig(directory));
  config_ = config.model;
  config_.bfloat16_keys_values = keys_values != Precision::kFloat32;
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
  return LoadWeights(checkpoint, config.share_embeddings);
}

absl::Status Model::LoadWeights(const Checkpoint& checkpoint, bool share_embeddings) {
  const bool bfloat16 = precision_ != Precision::kFloat32;
  const int d_model = config_.d_model;
  const int vocabulary = config_.target_vocabulary;
  std::vector<std::string> names = {kTarget, kOutput};
  if (share_embeddings) names = {kShared, kSource, kTarget, kOutput};
  const std::string table = FirstOf(names, checkpoint);
  RETURN_IF_ERROR(checkpoint.CheckMatrix(table, vocabulary, d_model));
  std::vector<float> bias(vocabulary, 0.0f);
  if (checkpoint.Has("final_logits_bias")) {
    ASSIGN_OR_RETURN(bias, checkpoint.ReadVector("final_logits_bias", vocabulary));
  }
  OutputProjection output(vocabulary, d_model, precision_, config_.selective_output);
  const auto target = std::make_shared<EmbeddingTable>(vocabulary, d_model, bfloat16);
  RETURN_IF_ERROR(ReadTable(
      checkpoint, table, vocabulary, d_model, [&](int first, MatrixView<const float> embeddings) {
        target->Set(first, embeddings);
        return output.Append(embeddings,
                             absl::MakeConstSpan(bias).subspan(first, embeddings.rows()));
      }));
  std::shared_ptr<EmbeddingTable> source = target;
  if (!share_embeddings) {
    RETURN_IF_ERROR(checkpoint.CheckMatrix(kSource, config_.source_vocabulary, d_model));
    source = std::make_shared<EmbeddingTable>(config_.source_vocabulary, d_model, bfloat16);
    RETURN_IF_ERROR(ReadTable(checkpoint, kSource, config_.source_vocabulary, d_model,
                              [&](int first, MatrixView<const float> embeddings) {
                                source->Set(first, embeddings);
                                return absl::OkStatus();
                              }));
  }
  ASSIGN_OR_RETURN(encoder_, Encoder::Create(checkpoint, config_, source, precision_));
  ASSIGN_OR_RETURN(decoder_,
                   Decoder::Create(checkpoint, config_, target, std::move(output), precision_));
  return absl::OkStatus();
}

}  // namespace dragoman
