#include "client/model_files.h"

#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/base/json.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

// Files that are not weights.  A repository has some of them.
constexpr const char* kBeside[] = {
    "config.json",
    "generation_config.json",
    "tokenizer_config.json",
    "source.spm",
    "target.spm",
    "vocab.json",
    "target_vocab.json",
    "spiece.model",
    "sentencepiece.bpe.model",
    "sentencepiece.model",
    "src.spm.model",  // of eole, whose models quickmt publishes
    "tgt.spm.model",
    "joint.spm.model",
    "added_tokens.json",
    "special_tokens_map.json",
    "bpe.model",
    "metadata.json",
};

// The file of Hugging Face's tokenizers, which is large and only read where there is no
// SentencePiece model.
constexpr char kTokenizerJson[] = "tokenizer.json";
bool IsPieceModel(const std::string& name) {
  return absl::EndsWith(name, ".spm") || absl::EndsWith(name, ".model");
}

// Further files of CTranslate2.
bool IsCTranslate2File(const std::string& name) {
  return name == "model.bin" || name == "vmap.txt" || absl::EndsWith(name, "vocabulary.json") ||
         absl::EndsWith(name, "vocabulary.txt");
}

struct Weights {
  const char* file;
  bool index;
};

// In order of preference.
constexpr Weights kWeights[] = {{"model.safetensors", false},
                                {"model.safetensors.index.json", true},
                                {"pytorch_model.bin", false},
                                {"pytorch_model.bin.index.json", true},
                                {"model.bin", false}};

// Weights that the server does not read, and advice for each.
constexpr std::pair<const char*, const char*> kForeign[] = {
    {".h5", "TensorFlow weights; convert them with transformers, or take another repository"},
    {".msgpack", "Flax weights; convert them with transformers, or take another repository"},
    {".onnx", "ONNX graphs; take the repository that they were exported from"},
    {".gguf", "GGUF weights; take the repository that they were converted from"},
};

absl::Status NothingToServe(const std::vector<std::string>& names) {
  if (absl::c_linear_search(names, "adapter_config.json")) {
    return absl::FailedPreconditionError(
        "the repository holds an adapter (LoRA), which changes another model: fetch its "
        "adapter_config.json and adapter_model.safetensors into a directory of their own, and "
        "serve the other model with --model NAME=DIR,lora=ADAPTER");
  }
  for (const auto& [suffix, advice] : kForeign) {
    for (const std::string& name : names) {
      if (absl::EndsWith(name, suffix)) {
        return FailedPreconditionError("the repository holds only ", advice, " (", name, ")");
      }
    }
  }
  return absl::FailedPreconditionError(
      "the repository holds no weights that can be served: neither model.safetensors nor "
      "pytorch_model.bin, nor the shards of either, nor CTranslate2's model.bin, nor an .npz "
      "with its pieces");
}

// The only .npz, and what says how to read it, as HPLT publishes its models.
ModelFiles NpzFiles(const std::set<std::string>& names) {
  ModelFiles chosen;
  std::vector<std::string> models;
  for (const std::string& name : names) {
    const auto ends = [&](const char* suffix) { return absl::EndsWith(name, suffix); };
    if (absl::StrContains(name, "/") || ends(".optimizer.npz") || ends(".orig.npz")) continue;
    if (ends(".npz")) models.push_back(name);
    if (ends(".spm") || ends("vocab.yml") || name == "decoder.yml") chosen.files.push_back(name);
  }
  if (models.size() != 1 || chosen.files.empty()) return {};
  chosen.files.push_back(models.front());
  return chosen;
}

}  // namespace

absl::StatusOr<ModelFiles> ChooseFiles(const std::vector<std::string>& names) {
  const std::set<std::string> all(names.begin(), names.end());
  const auto weights =
      absl::c_find_if(kWeights, [&](const Weights& w) { return all.contains(w.file); });
  if (weights == std::end(kWeights)) {
    ModelFiles found = NpzFiles(all);
    if (found.files.empty()) return NothingToServe(names);
    return found;
  }
  ModelFiles chosen;
  for (const char* name : kBeside) {
    if (all.contains(name)) chosen.files.push_back(name);
  }
  if (all.contains(kTokenizerJson) && absl::c_none_of(chosen.files, IsPieceModel)) {
    chosen.files.push_back(kTokenizerJson);
  }
  if (weights == std::end(kWeights) - 1) {
    for (const std::string& name : all) {
      if (name.find('/') == name.npos && IsCTranslate2File(name)) chosen.files.push_back(name);
    }
  } else {
    chosen.files.push_back(weights->file);
  }
  if (weights->index) chosen.index = weights->file;
  chosen.described = weights != std::end(kWeights) - 1 && all.contains("config.json");
  return chosen;
}

absl::StatusOr<std::vector<std::string>> ShardsOf(std::string_view index) {
  ASSIGN_OR_RETURN(const nlohmann::json json, ParseJsonObject(index, "the index of the weights"));
  const nlohmann::json& weight_map = Member(json, "weight_map");
  if (!weight_map.is_object() || weight_map.empty()) {
    return absl::InvalidArgumentError("the index of the weights has no weight_map");
  }
  std::set<std::string> shards;
  for (const auto& [tensor, file] : weight_map.items()) {
    const std::string name = file.is_string() ? file.get<std::string>() : "";
    if (name.empty() || name[0] == '.' || name.find('/') != name.npos) {
      return InvalidArgumentError("the index of the weights has ", tensor, " in \"", name, "\"");
    }
    shards.insert(name);
  }
  return std::vector<std::string>(shards.begin(), shards.end());
}

std::string ModelName(const std::string& repository) {
  const std::string name = absl::AsciiStrToLower(repository.substr(repository.rfind('/') + 1));
  const std::vector<std::string> parts = absl::StrSplit(name, '-');
  const auto is_language = [](const std::string& part) {
    return (part.size() == 2 || part.size() == 3) &&
           absl::c_all_of(part, [](unsigned char c) { return absl::ascii_islower(c); });
  };
  const size_t n = parts.size();
  if (n < 3 || !is_language(parts[n - 1]) || !is_language(parts[n - 2])) return name;
  return absl::StrCat(parts[n - 2], "-", parts[n - 1]);
}

}  // namespace dragoman
