#include "engine/formats/open_weights.h"

#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/base/json.h"
#include "engine/base/status.h"
#include "engine/formats/lora.h"
#include "engine/formats/safetensors.h"
#include "engine/formats/sharded.h"
#include "engine/formats/torch_file.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

// How to open the weights of an index or a file.
struct Format {
  const char* file;
  OpenFile open;
  bool sharded;
};

constexpr Format kFormats[] = {{"model.safetensors", OpenSafetensors, false},
                               {"model.safetensors.index.json", OpenSafetensors, true},
                               {"pytorch_model.bin", OpenTorchFile, false},
                               {"pytorch_model.bin.index.json", OpenTorchFile, true}};

// Weights that this engine does not read, and advice for each.
constexpr std::pair<const char*, const char*> kForeign[] = {
    {".h5",
     "TensorFlow weights: convert them with transformers, "
     "from_pretrained(DIR, from_tf=True).save_pretrained(DIR)"},
    {".msgpack",
     "Flax weights: convert them with transformers, "
     "from_pretrained(DIR, from_flax=True).save_pretrained(DIR)"},
    {".onnx", "ONNX graphs: fetch the model that they were exported from"},
    {".gguf", "GGUF weights: fetch the model that they were converted from"},
    {".ot", "Rust weights: fetch the model that they were converted from"},
};

// The sorted names of the files in a directory; empty if it cannot be read.
std::vector<std::string> FilesOf(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  absl::c_sort(names);
  return names;
}

absl::Status NoWeights(const std::string& directory) {
  std::vector<std::string> files = FilesOf(directory);
  // Where exporters put them.
  for (const std::string& file : FilesOf(directory + "/onnx")) files.push_back("onnx/" + file);
  for (const auto& [suffix, advice] : kForeign) {
    for (const std::string& file : files) {
      if (absl::EndsWith(file, suffix)) {
        return NotFoundError("there is neither model.safetensors nor pytorch_model.bin, and ", file,
                             " has ", advice);
      }
    }
  }
  return NotFoundError("there are no weights: want ", kFormats[0].file, ", ", kFormats[1].file,
                       ", ", kFormats[2].file, " or ", kFormats[3].file,
                       "; fetch the model again, for example with `dragoman pull`");
}

// What `git clone` leaves instead of a large file where Git LFS is not installed.
bool IsLfsPointer(const fs::path& path) {
  constexpr std::string_view kBegin = "version https://git-lfs.github.com/spec/";
  constexpr uintmax_t kLargest = 1024;
  std::error_code error;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) > kLargest) return false;
  std::string begin(kBegin.size(), '\0');
  std::ifstream(path, std::ios::binary).read(begin.data(), static_cast<int>(begin.size()));
  return begin == kBegin;
}

// The error for models--OWNER--NAME in the cache of Hugging Face's tools, which is not a model but
// has a directory for each version of one.
absl::Status IsCacheFolder(const std::string& directory) {
  const std::vector<std::string> versions = FilesOf(directory + "/snapshots");
  return FailedPreconditionError(
      "is a folder of the Hugging Face cache: want one of the versions in it, such as ", directory,
      "/snapshots/", versions.empty() ? "COMMIT" : versions.back());
}

bool IsDecoderOnly(const nlohmann::json& config) {
  const nlohmann::json& architectures = Member(config, "architectures");
  if (!architectures.is_array()) return false;
  for (const nlohmann::json& name : architectures) {
    if (name.is_string() && absl::EndsWith(name.get_ref<const std::string&>(), "ForCausalLM")) {
      return config.value("is_encoder_decoder", nlohmann::json(false)) != true;
    }
  }
  return false;
}

}  // namespace

namespace {

absl::StatusOr<Checkpoint> OpenBase(const std::string& directory) {
  for (const Format& format : kFormats) {
    const std::string path = absl::StrCat(directory, "/", format.file);
    std::error_code error;
    if (!fs::exists(path, error)) continue;
    return format.sharded ? OpenShards(path, format.open) : format.open(path);
  }
  return NoWeights(directory);
}

}  // namespace

absl::StatusOr<Checkpoint> OpenWeights(const std::string& directory, const std::string& lora) {
  ASSIGN_OR_RETURN(Checkpoint base, OpenBase(directory));
  if (lora.empty()) return base;
  return AddLora(base, lora);
}

absl::Status CheckServable(const std::string& directory) {
  std::error_code error;
  if (!fs::exists(directory, error))
    return absl::NotFoundError("there is no such directory, want one with a config.json");
  const std::vector<std::string> files = FilesOf(directory);
  std::vector<std::string> pointers;
  for (const std::string& file : files) {
    if (IsLfsPointer(fs::path(directory) / file)) pointers.push_back(file);
  }
  if (!pointers.empty()) {
    return FailedPreconditionError(
        absl::StrJoin(pointers, ", "),
        pointers.size() == 1 ? " is a Git LFS pointer" : " are Git LFS pointers",
        ", which stands for a file that was not fetched: run `git lfs pull` there, or "
        "fetch the model with `dragoman pull`");
  }
  const auto has = [&files](const char* name) { return absl::c_binary_search(files, name); };
  if (has("adapter_config.json") && !has("config.json")) {
    return absl::FailedPreconditionError(
        "is an adapter (LoRA), which changes another model: serve that one with --model "
        "NAME=DIR,lora=ADAPTER");
  }
  if (has("snapshots") && has("blobs") && !has("config.json")) return IsCacheFolder(directory);
  if (!has("config.json")) return absl::OkStatus();
  const absl::StatusOr<nlohmann::json> config = ReadJsonObject(directory + "/config.json");
  if (config.ok() && IsDecoderOnly(*config)) {
    return UnimplementedError(
        "config.json: architectures is ", Describe(config->at("architectures")),
        ", a decoder-only model: this server translates with encoder-decoder models, such as "
        "OPUS-MT, NLLB, mBART, T5 or MADLAD");
  }
  return absl::OkStatus();
}

}  // namespace dragoman
