#include "engine/model/model.h"

#include <malloc.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/math/gemm.h"
#include "engine/model/model_directory.h"
#include "engine/model/network_kind.h"

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

// The files beside the weights of which a translation may depend: configuration and tokenizer, or
// the archive that holds them.
std::vector<std::string> FilesBeside(const std::string& directory) {
  static const auto& kEndings = *new std::set<std::string>{
      ".json", ".model", ".spm", ".txt", ".vocab", ".codes", ".bpe", ".tsv", ".yml", ".yaml"};
  std::error_code error;
  if (!std::filesystem::is_directory(directory, error)) return {directory};
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (kEndings.contains(entry.path().extension())) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// A digest that changes with each of the things it is told of.
class Digest {
 public:
  void Add(const void* bytes, size_t size) { digest_ = XXH3_64bits_withSeed(bytes, size, digest_); }
  void Add(const std::string& text) { Add(text.data(), text.size()); }
  // Nothing for a file that cannot be read: whoever needs it says so.
  void AddFile(const std::string& path) {
    const auto file = MappedFile::Open(path);
    if (file.ok()) Add((*file)->bytes().data(), (*file)->bytes().size());
  }
  // A tensor is read in parts, so that no large table is in memory as a whole.
  void AddTensors(const Checkpoint& checkpoint) {
    constexpr size_t kPart = size_t{8} << 20;
    for (const auto& [name, tensor] : checkpoint.tensors()) {
      Add(name);
      for (size_t first = 0; first < tensor.bytes.size(); first += kPart) {
        const absl::Span<const std::byte> part = tensor.bytes.subspan(first, kPart);
        Add(part.data(), part.size());
        checkpoint.Forget(part);
      }
    }
  }
  std::string Text() const { return absl::StrCat(absl::Hex(digest_, absl::kZeroPad16)); }

 private:
  uint64_t digest_ = 0;
};

// Names what a model is made of: equal versions translate equally, all else being equal.
std::string VersionOf(const std::string& directory, const Checkpoint& checkpoint,
                      const ShortlistSource& shortlist) {
  Digest digest;
  digest.AddTensors(checkpoint);
  for (const std::string& path : FilesBeside(directory)) {
    digest.Add(std::filesystem::path(path).filename());
    digest.AddFile(path);
  }
  if (!shortlist.file.empty()) {
    digest.AddFile(shortlist.file);
    digest.Add(absl::StrCat(shortlist.first.value_or(-1), ",", shortlist.best.value_or(-1)));
  }
  return digest.Text();
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
  ASSIGN_OR_RETURN(ModelDirectory files, OpenModelDirectory(directory));
  const ShortlistSource& shortlist =
      options.shortlist.file.empty() ? files.shortlist : options.shortlist;
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
  version_ = VersionOf(directory, files.checkpoint, shortlist);
  ASSIGN_OR_RETURN(network_, CreateNetwork(files.checkpoint, spec,
                                           {.arithmetic = arithmetic_,
                                            .keys_values = keys_values,
                                            .selective_output = shortlist_ != nullptr}));
  for (const auto& file : files.checkpoint.files()) RETURN_IF_ERROR(file->whole());
  RETURN_IF_ERROR(CheckNoLayerIsUnread(files.checkpoint));
  unused_tensors_ = files.checkpoint.Unread();
  return absl::OkStatus();
}

}  // namespace dragoman
