#include "engine/model/model.h"

#include <malloc.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/math/gemm.h"
#include "engine/model/model_directory.h"
#include "engine/model/transformer.h"

namespace dragoman {
namespace {

absl::Status CheckVocabulary(const char* side, int tokenizer, int model) {
  if (tokenizer <= model) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the tokenizer has ", tokenizer, " ", side,
                                                 " tokens, want at most the model's ", model));
}

// Large blocks that loading needs for a moment go back to the system at once.  glibc would keep
// them in its heap, where the small blocks that stay soon lie in every gap of them: loading
// NLLB-600M in int8 took 1.5 GB so, and 0.7 GB without.
void GiveBackLargeBlocks() {
#ifdef __GLIBC__
  static const int done = mallopt(M_MMAP_THRESHOLD, 4 << 20);
  static_cast<void>(done);
#endif
}

// Names the content of a checkpoint: it changes with any tensor's name or value.  A tensor is read
// in parts, so that no large table is in memory as a whole.
std::string Digest(const Checkpoint& checkpoint) {
  constexpr size_t kPart = size_t{8} << 20;
  uint64_t digest = 0;
  XXH3_state_t state;
  for (const auto& [name, tensor] : checkpoint.tensors()) {
    digest = XXH3_64bits_withSeed(name.data(), name.size(), digest);
    XXH3_64bits_reset_withSeed(&state, digest);
    for (size_t first = 0; first < tensor.bytes.size(); first += kPart) {
      const absl::Span<const std::byte> part = tensor.bytes.subspan(first, kPart);
      XXH3_64bits_update(&state, part.data(), part.size());
      checkpoint.Forget(part);
    }
    digest = XXH3_64bits_digest(&state);
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
  GiveBackLargeBlocks();
  std::shared_ptr<Model> model(new Model());
  model->name_ = name;
  model->arithmetic_ = {Resolve(options.precision), options.matmul};
  model->isa_ = Fingerprint(model->arithmetic_);
  if (absl::Status status = model->LoadFrom(directory, options); !status.ok()) {
    return InModel(directory, status);
  }
#ifdef __GLIBC__
  malloc_trim(0);  // gives back what only loading needed
#endif
  return model;
}

absl::Status Model::LoadFrom(const std::string& directory, const ModelOptions& options) {
  Precision keys_values = options.keys_values;
  if (keys_values == Precision::kAuto) {
    keys_values = precision() == Precision::kFloat32 ? Precision::kFloat32 : Precision::kBFloat16;
  }
  const ShortlistSource& shortlist = options.shortlist;
  ASSIGN_OR_RETURN(ModelDirectory files, OpenModelDirectory(directory));
  config_ = std::move(files.config);
  tokenizer_ = std::move(files.tokenizer);
  const ModelSpec& spec = config_.spec;
  RETURN_IF_ERROR(
      CheckVocabulary("source", tokenizer_->source_vocabulary_size(), spec.source_vocabulary));
  RETURN_IF_ERROR(
      CheckVocabulary("target", tokenizer_->target_vocabulary_size(), spec.target_vocabulary));
  if (!shortlist.file.empty()) {
    ASSIGN_OR_RETURN(shortlist_, Shortlist::Load(shortlist, *tokenizer_, spec.source_vocabulary,
                                                 spec.target_vocabulary, spec.eos_id));
  }
  version_ = Digest(files.checkpoint);
  ASSIGN_OR_RETURN(network_, Transformer::Create(files.checkpoint, spec,
                                                 {.arithmetic = arithmetic_,
                                                  .keys_values = keys_values,
                                                  .selective_output = shortlist_ != nullptr}));
  RETURN_IF_ERROR(CheckNoLayerIsUnread(files.checkpoint));
  unused_tensors_ = files.checkpoint.Unread();
  return absl::OkStatus();
}

}  // namespace dragoman
