#include "engine/model/model.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/base/heap.h"
#include "engine/base/not_copyable.h"
#include "engine/base/status.h"
#include "engine/base/weight_memory.h"
#include "engine/families/model_directory.h"
#include "engine/math/gemm.h"
#include "engine/model/network_kind.h"
#include "engine/model/packed_place.h"

namespace dragoman {
namespace {

absl::Status CheckVocabulary(const char* side, int tokenizer, int model) {
  if (tokenizer <= model) return absl::OkStatus();
  return InvalidArgumentError("the tokenizer has ", tokenizer, " ", side,
                              " tokens, want at most the model's ", model);
}

// While one of these lives, temporary blocks are returned to the system at once. glibc would keep
// them in its heap, where the small blocks that stay soon fill every gap between them: that way,
// loading NLLB-600M in int8 took 1.5 GB; now it takes 0.7 GB. Afterwards glibc keeps blocks again,
// up to the sizes that it reaches by itself: a request must not wait for new pages.
class HeapForLoading : private NotCopyable {
 public:
  HeapForLoading() { KeepInHeap(128 << 10); }
  ~HeapForLoading() {
    KeepInHeap(32 << 20);
    GiveBackHeap();
  }
};

// Whether a tensor is a table of embeddings or the output.  Tied tables are one, which files store
// under one of these names or under several; pytorch_model.bin and model.safetensors of the same
// model differ in this.
bool IsTable(const std::string& name) {
  return name == "lm_head.weight" || name == "model.shared.weight" ||
         absl::EndsWith(name, ".embed_tokens.weight");
}

// A digest that depends on everything added to it.
class Digest {
 public:
  void Add(const void* bytes, size_t size) { digest_ = XXH3_64bits_withSeed(bytes, size, digest_); }
  void Add(const std::string& text) { Add(text.data(), text.size()); }
  // Adds nothing for a file that cannot be read: the code that needs it will report that.
  void AddFile(const std::string& path) {
    const auto file = MappedFile::Open(path);
    if (file.ok()) Add((*file)->bytes().data(), (*file)->bytes().size());
  }
  // Adds all tensors with their names, then each distinct table.
  void AddTensors(const Checkpoint& checkpoint) {
    std::map<const std::byte*, uint64_t> known;  // so that no table is read twice
    std::vector<uint64_t> tables;
    for (const auto& [name, tensor] : checkpoint.tensors()) {
      const auto it = tensor.added == nullptr ? known.find(tensor.bytes.data()) : known.end();
      const uint64_t content = it != known.end() ? it->second : ContentOf(checkpoint, tensor);
      if (!IsTable(name)) {
        Add(name);
        Add(&content, sizeof(content));
        continue;
      }
      known[tensor.bytes.data()] = content;
      if (std::find(tables.begin(), tables.end(), content) == tables.end()) {
        tables.push_back(content);
      }
    }
    Add(tables.data(), tables.size() * sizeof(uint64_t));
  }
  std::string Text() const { return absl::StrCat(absl::Hex(digest_, absl::kZeroPad16)); }

 private:
  // A tensor is read in parts, so that no large table is in memory as a whole.
  static uint64_t ContentOf(const Checkpoint& checkpoint, const Tensor& tensor) {
    constexpr size_t kPart = size_t{8} << 20;
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    for (size_t first = 0; first < tensor.bytes.size(); first += kPart) {
      const absl::Span<const std::byte> part = tensor.bytes.subspan(first, kPart);
      XXH3_64bits_update(&state, part.data(), part.size());
      checkpoint.Forget(part);
    }
    XXH3_64bits_update(&state, tensor.scales.data(), tensor.scales.size() * sizeof(float));
    if (tensor.added != nullptr) {
      for (const Matrix<float>* const factor : {&tensor.added->a, &tensor.added->b}) {
        for (int r = 0; r < factor->rows(); ++r) {
          XXH3_64bits_update(&state, factor->Row(r).data(), factor->cols() * sizeof(float));
        }
      }
    }
    return XXH3_64bits_digest(&state);
  }

  uint64_t digest_ = 0;
};

// Names what a model is made of.  Equal versions translate equally, all else being equal.
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

Precision KeysValuesOf(const ModelOptions& options, Precision precision) {
  if (options.keys_values != Precision::kAuto) return options.keys_values;
  return precision == Precision::kFloat32 ? Precision::kFloat32 : Precision::kBFloat16;
}

}  // namespace

absl::StatusOr<ModelProfile> ModelProfile::Read(const std::string& name,
                                                const std::string& directory) {
  const absl::StatusOr<ModelConfig> config = ReadModelConfig(directory);
  RETURN_IF_ERROR(RelativeTo(directory, config.status()));
  const absl::StatusOr<Languages> languages = ReadLanguages(directory);
  RETURN_IF_ERROR(RelativeTo(directory, languages.status()));
  ModelProfile profile(name);
  profile.config = *config;
  profile.languages = *languages;
  profile.known = true;
  return profile;
}

absl::StatusOr<std::shared_ptr<const Model>> Model::Load(const std::string& name,
                                                         const std::string& directory,
                                                         const ModelOptions& options) {
  const HeapForLoading heap;
  WeightMemory::BeginMapping();
  std::shared_ptr<Model> model(new Model());
  model->name_ = name;
  model->arithmetic_ = {Resolve(options.precision), options.matmul};
  model->isa_ = Fingerprint(model->arithmetic_);
  const Precision keys_values = KeysValuesOf(options, model->precision());
  if (keys_values != KeysValuesOf({}, model->precision())) {
    absl::StrAppend(&model->isa_, "/", NameOf(keys_values));
  }
  RETURN_IF_ERROR(RelativeTo(directory, model->LoadFrom(directory, options)));
  return model;
}

absl::Status Model::LoadFrom(const std::string& directory, const ModelOptions& options) {
  const bool cached = !options.packed_cache.empty() && precision() == Precision::kInt8;
  const auto place_now = [&] {  // its key is another one after any change of the files
    return PackedPlaceOf(options.packed_cache,
                         {directory, options.lora, options.shortlist,
                          absl::StrCat(isa_, "/", matmul(), "/", matmul_isa())});
  };
  const PackedPlace place = cached ? place_now() : PackedPlace();
  ASSIGN_OR_RETURN(ModelDirectory files, OpenModelDirectory(directory, options.lora));
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
  Checkpoint* const checkpoint = &files.checkpoint;
  const auto unchanged = [&] { return place_now().key == place.key; };
  if (cached && Map(place, options, checkpoint) && unchanged()) return absl::OkStatus();
  packed_ = nullptr;
  version_ = VersionOf(directory, *checkpoint, shortlist);
  std::unique_ptr<PackedFileWriter> writer;
  if (cached) {
    if (auto created = WritePacked(place); created.ok()) writer = *std::move(created);
  }
  RETURN_IF_ERROR(Pack(options, writer.get(), checkpoint));
  if (writer == nullptr || !unchanged() || !writer->Finish(version_).ok()) return absl::OkStatus();
  RemoveStale(place.path);
  Map(place, options, checkpoint);
  return absl::OkStatus();
}

// Reads and packs the weights, and stores them unless `writer` is null.
absl::Status Model::Pack(const ModelOptions& options, PackedFileWriter* writer,
                         Checkpoint* checkpoint) {
  ASSIGN_OR_RETURN(network_, NetworkOf(options, {.to = writer}, checkpoint));
  for (const auto& file : checkpoint->files()) RETURN_IF_ERROR(file->whole());
  return CheckAllIsRead(*checkpoint);
}

absl::StatusOr<std::unique_ptr<const Network>> Model::NetworkOf(const ModelOptions& options,
                                                                const PackedWeights& packed,
                                                                Checkpoint* checkpoint) const {
  checkpoint->set_packed(&packed);
  return CreateNetwork(*checkpoint, config_.spec,
                       {.arithmetic = arithmetic_,
                        .keys_values = KeysValuesOf(options, precision()),
                        .selective_output = shortlist_ != nullptr});
}

// Takes the weights that were kept instead of those in memory, so that all processes share them.
// False, and without effect, if none were.
bool Model::Map(const PackedPlace& place, const ModelOptions& options, Checkpoint* checkpoint) {
  std::shared_ptr<const PackedFile> file = PackedFile::Open(place.path, place.key);
  if (file == nullptr) return false;
  auto network = NetworkOf(options, {.from = file}, checkpoint);
  if (!network.ok()) return false;
  KeepPacked(place.path);
  network_ = *std::move(network);
  version_ = file->note();
  packed_ = std::move(file);
  return true;
}

std::string Model::matmul() const { return GemmMatmul(arithmetic_); }

std::string Model::matmul_isa() const { return GemmIsa(arithmetic_); }

}  // namespace dragoman
