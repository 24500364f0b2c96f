// Models in Marian NMT's own formats (https://marian-nmt.github.io), those of Bergamot and Firefox
// among them.  The decoder starts without a token, from a position alone.  Search and segmentation
// follow Marian.
//
// There is one exception.  In a model that normalizes the input of its sublayers, marian-decoder
// computes keys and values of the decoder's self-attention, from the second step on, from input
// that was not normalized.  The model was trained with normalized input, marian-scorer scores with
// it, and so does this engine.

#include "engine/families/marian_nmt.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "engine/base/mapped_file.h"
#include "engine/base/status.h"
#include "engine/base/yaml.h"
#include "engine/families/hugging_face.h"

namespace dragoman::marian_nmt {
namespace {

bool Recognizes(const DirectoryFiles& files) { return HasMarianModel(files); }

// One side's pieces, and its special tokens.
struct Side {
  std::shared_ptr<const PieceModel> pieces;
  std::shared_ptr<const Vocabulary> vocabulary;
  int32_t eos_id = 0;
  int32_t unknown_id = 1;
  bool numbered = false;  // by SentencePiece's own ids
};

absl::StatusOr<Side> ReadNumberedPieces(const std::string& path) {
  Side side;
  side.numbered = true;
  ASSIGN_OR_RETURN(side.pieces, ReadPieceModel(path));
  Vocabulary vocabulary;
  int64_t id = 0;
  for (const std::string& piece : side.pieces->Pieces()) {
    RETURN_IF_ERROR(vocabulary.Add(piece, id++));
  }
  side.eos_id = side.pieces->eos_id();
  side.unknown_id = side.pieces->unknown_id();
  if (side.eos_id < 0) return InvalidArgumentError(path, ": has no end of a sentence");
  if (side.unknown_id < 0) return InvalidArgumentError(path, ": has no unknown piece");
  side.vocabulary = std::make_shared<const Vocabulary>(std::move(vocabulary));
  return side;
}

absl::Status AddMapping(const std::string& path, Vocabulary* vocabulary) {
  ASSIGN_OR_RETURN(const nlohmann::json json, ReadYamlObject(path));
  for (const auto& [token, id] : json.items()) {
    if (!id.is_number_unsigned()) {
      return InvalidArgumentError("the id of \"", token, "\" is ", Describe(id),
                                  ", want a whole number");
    }
    RETURN_IF_ERROR(vocabulary->Add(token, id.get<int64_t>()));
  }
  return absl::OkStatus();
}

absl::Status AddLines(const std::string& path, Vocabulary* vocabulary) {
  ASSIGN_OR_RETURN(const auto file, MappedFile::Open(path));
  std::string_view text = file->text();
  for (int64_t id = 0; !text.empty(); ++id) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    RETURN_IF_ERROR(vocabulary->Add(std::string(line), id));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return absl::OkStatus();
}

// The token with that text or, in the vocabularies of Nematus, the one used instead.
std::optional<int32_t> FindSpecial(const Vocabulary& vocabulary, const char* text, int32_t id,
                                   const char* other) {
  if (const std::optional<int32_t> found = vocabulary.IdOf(text); found.has_value()) return found;
  const std::string* const there = vocabulary.Find(id);
  const bool in_place = there == nullptr || there->empty() || *there == other;
  return in_place ? std::optional(id) : std::nullopt;
}

absl::StatusOr<Side> ReadWords(const std::string& path) {
  const bool mapping = absl::EndsWith(path, ".yml") || absl::EndsWith(path, ".yaml") ||
                       absl::EndsWith(path, ".json");
  Vocabulary vocabulary;
  const absl::Status status = mapping ? AddMapping(path, &vocabulary) : AddLines(path, &vocabulary);
  if (absl::IsNotFound(status)) return status;
  if (!status.ok()) {
    return InvalidArgumentError(path, ": ", absl::StripPrefix(status.message(), path + ": "));
  }
  const std::optional<int32_t> eos = FindSpecial(vocabulary, "</s>", 0, mapping ? "eos" : "</s>");
  const std::optional<int32_t> unknown =
      FindSpecial(vocabulary, "<unk>", 1, mapping ? "UNK" : "<unk>");
  if (!eos.has_value()) return InvalidArgumentError(path, ": has no </s>");
  if (!unknown.has_value()) return InvalidArgumentError(path, ": has no <unk>");
  return Side{PieceModel::OfSpaces(), std::make_shared<const Vocabulary>(std::move(vocabulary)),
              *eos, *unknown};
}

absl::StatusOr<Side> ReadSide(const std::string& path) {
  if (absl::EndsWith(path, ".spm")) return ReadNumberedPieces(path);
  if (absl::EndsWith(path, ".fsv")) {
    return UnimplementedError(path,
                              ": is a factored vocabulary, which this engine does not support");
  }
  return ReadWords(path);
}

// Forbids bytes that only control a terminal, which Marian never writes.
void ForbidControlBytes(const Vocabulary& vocabulary, GenerationConfig* search) {
  for (int byte = 0; byte < 0x20; ++byte) {
    const std::optional<int32_t> id = vocabulary.IdOf(absl::StrFormat("<0x%02X>", byte));
    if (id.has_value()) search->bad_words_ids.push_back({*id});
  }
}

// The search that decoder.yml describes.  Without one, the defaults are those that Firefox and
// Bergamot decode with; with one, they are marian-decoder's.
absl::StatusOr<GenerationConfig> ReadSearch(const MarianModel& model) {
  const bool bergamot = model.files.search_file.empty();
  const JsonFields fields({{model.files.search_file, &model.files.search}});
  GenerationConfig search;
  search.options.beam_size = bergamot ? 1 : 12;
  search.options.length_penalty = bergamot ? 1.0f : 0.0f;
  search.options.shrinking_beam = true;
  search.options.max_length_ratio = bergamot ? 2.0f : 3.0f;
  search.length_margin = 0;
  search.options.repetition_guard = false;
  bool allow_unknown = false;
  if (const nlohmann::json* given = fields.Find("normalize"); given && given->is_boolean()) {
    search.options.length_penalty = given->get<bool>() ? 1.0f : 0.0f;
  } else {
    RETURN_IF_ERROR(fields.Read("normalize", &search.options.length_penalty));
  }
  RETURN_IF_ERROR(fields.Read("beam-size", 1, 1024, &search.options.beam_size));
  RETURN_IF_ERROR(fields.Read("word-penalty", &search.options.word_penalty));
  RETURN_IF_ERROR(fields.Read("max-length-factor", &search.options.max_length_ratio));
  RETURN_IF_ERROR(fields.Read("allow-unk", &allow_unknown));
  search.options.disable_unk = !allow_unknown;
  return search;
}

absl::StatusOr<ModelConfig> Configure(const DirectoryFiles& files) {
  ASSIGN_OR_RETURN(const MarianModel model, OpenMarianModel(files));
  ModelConfig config;
  ASSIGN_OR_RETURN(config.spec, ReadMarianSpec(model));
  ASSIGN_OR_RETURN(config.generation, ReadSearch(model));
  ASSIGN_OR_RETURN(const Side target, ReadSide(model.files.target_vocabulary));
  config.spec.eos_id = config.spec.decoder_start_id = target.eos_id;
  ForbidControlBytes(*target.vocabulary, &config.generation);
  return config;
}

// In an archive of OPUS-MT, texts are made into pieces before they reach Marian, which looks these
// up as words: the pieces' models lie beside its vocabularies.
absl::Status UsePiecesBeside(const DirectoryFiles& files, Side* source, Side* target) {
  constexpr char kSource[] = "source.spm", kTarget[] = "target.spm";
  if (source->numbered || !files.Has(kSource) || !files.Has(kTarget)) return absl::OkStatus();
  for (const auto& [name, side] : {std::pair(kSource, source), std::pair(kTarget, target)}) {
    ASSIGN_OR_RETURN(side->pieces, ReadPieceModel(files.Path(name)));
    const std::vector<std::string> pieces = side->pieces->Pieces();
    const auto unknown = static_cast<size_t>(
        absl::c_count_if(pieces, [vocabulary = side->vocabulary](const auto& piece) {
          return !vocabulary->IdOf(piece).has_value();
        }));
    // A few may be: those that no text of the training had.
    if (2 * unknown <= pieces.size()) continue;
    return UnimplementedError(files.Path(name), ": ", unknown, " of its ", pieces.size(),
                              " pieces are not in the vocabulary beside it");
  }
  return absl::OkStatus();
}

// Those of the tokens >>xx<< of an OPUS-MT model for several targets, or of the files' names.
Languages LanguagesOf(const MarianModel& model, const Vocabulary& source) {
  const std::vector<std::string> codes = TargetCodes(source);
  if (!codes.empty()) return Languages::All({}, codes, {}, /*target_needed=*/false);
  const LanguagePair& pair = model.files.languages;
  return pair.source.empty() ? Languages() : Languages::Only({pair});
}

absl::StatusOr<Languages> ReadLanguages(const DirectoryFiles& files, const ModelSpec& spec) {
  ASSIGN_OR_RETURN(const MarianModel model, OpenMarianModel(files));
  ASSIGN_OR_RETURN(const Side source, ReadSide(model.files.source_vocabulary));
  return LanguagesOf(model, *source.vocabulary);
}

absl::StatusOr<std::unique_ptr<const Tokenizer>> OpenTokenizer(const DirectoryFiles& files,
                                                               const ModelSpec&) {
  ASSIGN_OR_RETURN(const MarianModel model, OpenMarianModel(files));
  ASSIGN_OR_RETURN(Side source, ReadSide(model.files.source_vocabulary));
  Side target = source;
  if (model.files.target_vocabulary != model.files.source_vocabulary) {
    ASSIGN_OR_RETURN(target, ReadSide(model.files.target_vocabulary));
  }
  if (source.numbered != target.numbered) {
    return UnimplementedError(model.files.source_vocabulary, " and ", model.files.target_vocabulary,
                              " are of different kinds, want both of SentencePiece or of words");
  }
  RETURN_IF_ERROR(UsePiecesBeside(files, &source, &target));
  TokenizerParts parts;
  parts.source_pieces = source.pieces;
  parts.target_pieces = target.pieces;
  parts.source_vocabulary = source.vocabulary;
  parts.target_vocabulary = target.vocabulary;
  parts.unknown_id = source.unknown_id;
  parts.target_unknown_id = target.unknown_id;
  parts.numbered_pieces = source.numbered;
  parts.skipped = {target.eos_id};
  parts.ends_text = source.eos_id;
  RETURN_IF_ERROR(model.fields().Read("right-left", &parts.reversed));
  parts.languages = LanguagesOf(model, *source.vocabulary);
  parts.leading_language_code = !TargetCodes(*source.vocabulary).empty();
  parts.frame = TargetTagFrame(source.vocabulary, source.eos_id);
  return std::make_unique<const Tokenizer>(std::move(parts));
}

absl::StatusOr<Checkpoint> OpenTensors(const DirectoryFiles& files, const ModelSpec& spec) {
  ASSIGN_OR_RETURN(const MarianModel model, OpenMarianModel(files));
  return MarianTensors(model, spec);
}

absl::StatusOr<ShortlistSource> FindShortlist(const DirectoryFiles& files) {
  ASSIGN_OR_RETURN(const MarianFiles found, FindMarianFiles(files));
  return found.shortlist;
}

}  // namespace

extern const Adapter adapter;
const Adapter adapter = {
    .family = "Marian NMT",
    .recognizes = Recognizes,
    .configure = Configure,
    .open_tokenizer = OpenTokenizer,
    .open_tensors = OpenTensors,
    // The options, factors for activations (which this engine measures itself), leftovers of
    // training.
    .harmless = {"special:*", "*_QuantMultA", "decoder_c_tt", "uidx", "history_errs"},
    .find_shortlist = FindShortlist,
    .read_languages = ReadLanguages};

}  // namespace dragoman::marian_nmt
