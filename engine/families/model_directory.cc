#include "engine/families/model_directory.h"

#include <filesystem>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/base/json.h"
#include "engine/base/status.h"
#include "engine/families/adapter.h"
#include "engine/families/hugging_face.h"
#include "engine/families/tokenizer_check.h"
#include "engine/formats/json_fields.h"
#include "engine/formats/open_weights.h"

namespace dragoman {
namespace {

// The sequence-to-sequence models of transformers that this engine does not have, so that a refusal
// says what was tried.
constexpr std::pair<absl::string_view, absl::string_view> kOtherFamilies[] = {
    {"IndicTrans",
     "IndicTrans2: its texts have to go through the IndicProcessor of "
     "IndicTransToolkit first, which maps all Indic scripts to one, and back, and its "
     "layers norm their embeddings; this server does neither"},
    {"bart", "BART"},
    {"bigbird_pegasus", "BigBird-Pegasus"},
    {"blenderbot", "BlenderBot"},
    {"blenderbot-small", "BlenderBot"},
    {"encoder-decoder", "an encoder and a decoder of other families"},
    {"fsmt", "FairSeq's WMT19 models"},
    {"led", "LED"},
    {"longt5", "LongT5"},
    {"mvp", "MVP"},
    {"nllb-moe", "NLLB's mixture of experts"},
    {"pegasus", "Pegasus"},
    {"pegasus_x", "Pegasus-X"},
    {"plbart", "PLBart"},
    {"prophetnet", "ProphetNet"},
    {"seamless_m4t", "SeamlessM4T, which translates speech, too"},
    {"seamless_m4t_v2", "SeamlessM4T, which translates speech, too"},
    {"speech_to_text", "a model of speech"},
    {"switch_transformers", "Switch Transformers"},
    {"t5gemma", "T5Gemma"},
    {"t5gemma2", "T5Gemma"},
    {"whisper", "Whisper, a model of speech"},
    {"xlm-prophetnet", "ProphetNet"},
};

absl::Status NotRecognized(const DirectoryFiles& files) {
  const std::string known = absl::StrJoin(
      Adapters(), ", ",
      [](std::string* out, const Adapter* adapter) { absl::StrAppend(out, adapter->family); });
  if (!files.Has("config.json")) {
    return NotFoundError(files.Path("config.json"), ": cannot open; want a directory of ", known);
  }
  const std::string type = files.ModelType();
  std::string what =
      type.empty() ? "has no model_type" : absl::StrCat("model_type is \"", type, "\"");
  for (const auto& [name, family] : kOtherFamilies) {
    if (type == name) absl::StrAppend(&what, ", which is ", family);
  }
  return UnimplementedError(files.Path("config.json"), ": ", what, "; want a model of ", known);
}

// A directory, and how its model is read.
struct Recognized {
  UnpackedModel model;
  DirectoryFiles files;
  const Adapter* adapter = nullptr;
  ModelConfig config;
};

absl::StatusOr<const Adapter*> FindAdapter(const DirectoryFiles& files) {
  for (const Adapter* adapter : Adapters()) {
    if (!adapter->recognizes(files)) continue;
    RETURN_IF_ERROR(CheckTokenizerClass(*adapter, files));
    return adapter;
  }
  return NotRecognized(files);
}

absl::StatusOr<Recognized> Recognize(const std::string& directory, const std::string& lora = "") {
  Recognized found;
  ASSIGN_OR_RETURN(found.model, UnpackModel(directory));
  DirectoryFiles& files = found.files;
  files.path = found.model.path;
  files.lora = lora;
  RETURN_IF_ERROR(CheckServable(files.path));
  ASSIGN_OR_RETURN(files.config, ReadOptionalJson(files, "config.json"));
  ASSIGN_OR_RETURN(files.generation, ReadOptionalJson(files, "generation_config.json"));
  ASSIGN_OR_RETURN(files.tokenizer, ReadOptionalJson(files, "tokenizer_config.json"));
  ASSIGN_OR_RETURN(found.adapter, FindAdapter(files));
  ASSIGN_OR_RETURN(found.config, found.adapter->configure(files));
  return found;
}

absl::StatusOr<std::unique_ptr<const Tokenizer>> OpenTokenizerOf(const Recognized& found) {
  ASSIGN_OR_RETURN(std::unique_ptr<const Tokenizer> tokenizer,
                   found.adapter->open_tokenizer(found.files, found.config.spec));
  RETURN_IF_ERROR(CheckPieces(*tokenizer, found.files));
  return tokenizer;
}

// Alignment settings that config.json may have in any family: "alignment_layer", a layer of the
// decoder, counted from its end if negative, and "alignment_heads", a list of that layer's heads.
absl::Status ReadAlignment(const DirectoryFiles& files, ModelSpec* spec) {
  const JsonFields fields({{files.Path("config.json"), &files.config}});
  RETURN_IF_ERROR(fields.Read("alignment_layer", -spec->decoder_layers, spec->decoder_layers - 1,
                              &spec->alignment.layer));
  const nlohmann::json* heads = fields.Find("alignment_heads");
  if (heads == nullptr) return absl::OkStatus();
  const int last = spec->decoder_heads - 1;
  const absl::Status wrong =
      fields.Wrong("alignment_heads", absl::StrCat("a list of heads from 0 to ", last));
  if (!heads->is_array() || heads->size() > static_cast<size_t>(spec->decoder_heads)) return wrong;
  spec->alignment.heads.clear();
  for (const nlohmann::json& head : *heads) {
    if (!JsonFields::IsWhole(head, 0, last)) return wrong;
    spec->alignment.heads.push_back(head.get<int>());
  }
  return absl::OkStatus();
}

}  // namespace

bool DirectoryFiles::Has(const std::string& file) const {
  std::error_code error;
  return std::filesystem::exists(Path(file), error);
}

std::string DirectoryFiles::ModelType() const { return TextIn(config, "model_type"); }

absl::StatusOr<UnpackedModel> UnpackModel(const std::string& directory) {
  if (!UnpackedZip::IsZip(directory)) return UnpackedModel{directory, nullptr};
  ASSIGN_OR_RETURN(std::shared_ptr<const UnpackedZip> zip, UnpackedZip::Open(directory));
  return UnpackedModel{zip->directory(), zip};
}

absl::StatusOr<ModelDirectory> OpenModelDirectory(const std::string& directory,
                                                  const std::string& lora) {
  ASSIGN_OR_RETURN(Recognized found, Recognize(directory, lora));
  const DirectoryFiles& files = found.files;
  const Adapter& adapter = *found.adapter;
  RETURN_IF_ERROR(ReadAlignment(files, &found.config.spec));
  ASSIGN_OR_RETURN(auto tokenizer, OpenTokenizerOf(found));
  ASSIGN_OR_RETURN(Checkpoint checkpoint, adapter.open_tensors(files, found.config.spec));
  const auto changed = [](const auto& tensor) { return tensor.second.added != nullptr; };
  if (!lora.empty() && absl::c_none_of(checkpoint.tensors(), changed)) {
    return UnimplementedError("lora: models of ", adapter.family, " take no adapter");
  }
  ShortlistSource shortlist;
  if (adapter.find_shortlist != nullptr) {
    ASSIGN_OR_RETURN(shortlist, adapter.find_shortlist(files));
  }
  return ModelDirectory{adapter.family, std::move(found.config), std::move(tokenizer),
                        checkpoint.Without(adapter.harmless), std::move(shortlist)};
}

absl::StatusOr<std::unique_ptr<const Tokenizer>> OpenTokenizer(const std::string& directory) {
  ASSIGN_OR_RETURN(const Recognized found, Recognize(directory));
  return OpenTokenizerOf(found);
}

absl::StatusOr<Languages> ReadLanguages(const std::string& directory) {
  ASSIGN_OR_RETURN(const Recognized found, Recognize(directory));
  const auto read = found.adapter->read_languages;
  if (read != nullptr) return read(found.files, found.config.spec);
  ASSIGN_OR_RETURN(const std::unique_ptr<const Tokenizer> tokenizer, OpenTokenizerOf(found));
  return tokenizer->languages();
}

absl::StatusOr<ModelConfig> ReadModelConfig(const std::string& directory) {
  ASSIGN_OR_RETURN(Recognized found, Recognize(directory));
  return std::move(found.config);
}

std::vector<std::string> FilesBeside(const std::string& directory) {
  static const auto& kEndings = *new std::set<std::string>{
      ".json", ".model", ".spm", ".txt", ".vocab", ".codes", ".bpe", ".tsv", ".yml", ".yaml"};
  std::error_code error;
  if (!std::filesystem::is_directory(directory, error)) return {directory};
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename();
    if (!kEndings.contains(entry.path().extension()) || absl::EndsWith(name, ".index.json")) {
      continue;
    }
    files.push_back(entry.path());
  }
  absl::c_sort(files);
  return files;
}

}  // namespace dragoman
