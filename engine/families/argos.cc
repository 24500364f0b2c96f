// Argos packages, the models of LibreTranslate's users: metadata.json with the languages, a
// SentencePiece model, and a CTranslate2 directory in model/. A package is a zip, NAME.argosmodel,
// or the directory that it was unpacked to.

#include <optional>
#include <utility>

#include "engine/base/status.h"
#include "engine/families/adapter.h"
#include "engine/families/ctranslate2.h"
#include "engine/formats/json_fields.h"

namespace dragoman::argos {
namespace {

bool Recognizes(const DirectoryFiles& files) {
  return files.Has("metadata.json") && files.Has("model/model.bin");
}

absl::StatusOr<CTranslate2Model> OpenModel(const DirectoryFiles& files) {
  return OpenCTranslate2Model(files.Path("model"));
}

// Argos Translate searches with a beam of four and a small length penalty, and writes the source
// word for an unknown token.
absl::StatusOr<ModelConfig> Configure(const DirectoryFiles& files) {
  ASSIGN_OR_RETURN(const CTranslate2Model model, OpenModel(files));
  ASSIGN_OR_RETURN(ModelSpec spec, ReadCTranslate2Spec(model));
  GenerationConfig search = CTranslate2Search();
  search.options.beam_size = 4;
  search.options.length_penalty = 0.2f;
  search.options.replace_unknowns = true;
  return ModelConfig{std::move(spec), std::move(search)};
}

// Every translation begins with this token, which produces no text.  In a model with several
// targets it selects the one of the package.  A model that does not start alone starts with it.
void SetTargetPrefix(int32_t id, bool starts_alone, TokenizerParts* parts) {
  parts->skipped.push_back(id);
  parts->frame = [id, starts_alone, frame_of = std::move(parts->frame)](const LanguagePair& pair) {
    Frame frame = frame_of(pair);
    (starts_alone ? frame.forced_bos : frame.decoder_start) = id;
    return frame;
  };
}

// What metadata.json says.
struct Package {
  LanguagePair languages;
  std::string target_prefix;
};

absl::StatusOr<Package> ReadPackage(const JsonFields& fields) {
  Package package;
  RETURN_IF_ERROR(fields.Read("from_code", &package.languages.source));
  RETURN_IF_ERROR(fields.Read("to_code", &package.languages.target));
  RETURN_IF_ERROR(fields.Read("target_prefix", &package.target_prefix));
  return package;
}

bool NamesLanguages(const Package& package) {
  return !package.languages.source.empty() && !package.languages.target.empty();
}

absl::StatusOr<std::unique_ptr<const Tokenizer>> OpenTokenizer(const DirectoryFiles& files,
                                                               const ModelSpec& spec) {
  if (!files.Has("sentencepiece.model") && files.Has("bpe.model")) {
    return UnimplementedError(files.Path("bpe.model"),
                              ": is the subword-nmt tokenizer of an old package, "
                              "want a package with sentencepiece.model");
  }
  ASSIGN_OR_RETURN(const nlohmann::json metadata, ReadJsonObject(files.Path("metadata.json")));
  const JsonFields fields({{files.Path("metadata.json"), &metadata}});
  ASSIGN_OR_RETURN(const Package package, ReadPackage(fields));
  ASSIGN_OR_RETURN(const CTranslate2Model model, OpenModel(files));
  ASSIGN_OR_RETURN(auto pieces, ReadPieceModel(files.Path("sentencepiece.model")));
  TokenizerParts parts = CTranslate2TokenizerParts(model, pieces, pieces);
  const bool starts_alone = !model.tokens.start.empty();
  if (!package.target_prefix.empty()) {
    const std::optional<int32_t> id = model.target->IdOf(package.target_prefix);
    if (!id.has_value()) return fields.Wrong("target_prefix", "a token of the target vocabulary");
    SetTargetPrefix(*id, starts_alone, &parts);
  } else if (!starts_alone) {
    return InvalidArgumentError(
        files.Path("metadata.json"),
        ": has no target_prefix, and model/config.json no decoder_start_token, want "
        "one of them");
  }
  if (NamesLanguages(package)) parts.languages = Languages::Only({package.languages});
  return std::make_unique<const Tokenizer>(std::move(parts));
}

absl::StatusOr<Languages> ReadLanguages(const DirectoryFiles& files, const ModelSpec& spec) {
  ASSIGN_OR_RETURN(const nlohmann::json metadata, ReadJsonObject(files.Path("metadata.json")));
  ASSIGN_OR_RETURN(const Package package,
                   ReadPackage(JsonFields({{files.Path("metadata.json"), &metadata}})));
  if (NamesLanguages(package)) return Languages::Only({package.languages});
  ASSIGN_OR_RETURN(const std::unique_ptr<const Tokenizer> tokenizer, OpenTokenizer(files, spec));
  return tokenizer->languages();
}

absl::StatusOr<Checkpoint> OpenTensors(const DirectoryFiles& files, const ModelSpec& spec) {
  ASSIGN_OR_RETURN(const CTranslate2Model model, OpenModel(files));
  return CTranslate2Tensors(model);
}

}  // namespace

extern const Adapter adapter;
const Adapter adapter = {.family = "Argos",
                         .recognizes = Recognizes,
                         .configure = Configure,
                         .open_tokenizer = OpenTokenizer,
                         .open_tensors = OpenTensors,
                         .read_languages = ReadLanguages};

}  // namespace dragoman::argos
