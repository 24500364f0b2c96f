// Marian models in Hugging Face's format: OPUS-MT. Post-norm; sinusoidal positions in two halves,
// or interleaved, from 0; all tables tied to model.shared unless the vocabularies are separate. The
// decoder starts with <pad>.

#include <string_view>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "engine/base/mapped_file.h"
#include "engine/base/status.h"
#include "engine/families/adapter.h"
#include "engine/families/hugging_face.h"
#include "engine/text/language_tag.h"

namespace dragoman::marian {
namespace {

constexpr char kArchitecture[] = "MarianMTModel";

bool Recognizes(const DirectoryFiles& files) { return IsModel(files, "marian", kArchitecture); }

absl::Status ReadVocabularies(const JsonFields& fields, ModelSpec* spec) {
  RETURN_IF_ERROR(fields.Read("share_encoder_decoder_embeddings", &spec->share_embeddings));
  bool tied = true;
  RETURN_IF_ERROR(fields.Read("tie_word_embeddings", &tied));
  if (!tied) return fields.Unknown("tie_word_embeddings", "true: the output is the embedding's");
  // Hugging Face ignores decoder_vocab_size if the embeddings are shared.
  if (spec->share_embeddings) return absl::OkStatus();
  return fields.Read("decoder_vocab_size", 1, kMaxVocabulary, &spec->target_vocabulary);
}

// A field of tools/train: the order of sines and cosines that the model was trained with.
absl::Status ReadSinusoids(const JsonFields& fields, ModelSpec* spec) {
  constexpr const char* kField = "sinusoids";
  std::string order = "halves";
  RETURN_IF_ERROR(fields.Read(kField, &order));
  if (order == "interleaved") spec->positions.kind = Positions::kInterleaved;
  if (order == "halves" || order == "interleaved") return absl::OkStatus();
  return fields.Unknown(kField, "halves or interleaved");
}

absl::StatusOr<ModelConfig> Configure(const DirectoryFiles& files) {
  const ConfigFields fields(files);
  ModelConfig config;
  config.spec.architecture = kArchitecture;
  RETURN_IF_ERROR(CheckArchitecture(fields.model, kArchitecture));
  RETURN_IF_ERROR(ReadStacks(fields.model, {}, &config.spec));
  RETURN_IF_ERROR(ReadVocabularies(fields.model, &config.spec));
  RETURN_IF_ERROR(ReadSinusoids(fields.model, &config.spec));
  RETURN_IF_ERROR(ReadSpecialTokens(fields.search, {}, &config.spec));
  ASSIGN_OR_RETURN(config.generation, ReadGeneration(fields.search, config.spec));
  return config;
}

constexpr const char* kSpecialTokens[] = {"</s>", "<unk>", "<pad>"};

absl::StatusOr<std::shared_ptr<const Vocabulary>> ReadVocabulary(const std::string& path) {
  ASSIGN_OR_RETURN(Vocabulary vocabulary, Vocabulary::ReadJson(path));
  for (const char* token : kSpecialTokens) {
    if (!vocabulary.IdOf(token).has_value()) {
      return InvalidArgumentError(path, ": has no ", token);
    }
  }
  return std::make_shared<const Vocabulary>(std::move(vocabulary));
}

// Reads the field of tools/train that a group of languages has when it was trained on some pairs of
// its members only: "language_pairs": [["eng", "deu"], ["deu", "eng"]].  The first is the model's
// own.  Empty without the field.
absl::StatusOr<std::vector<LanguagePair>> ReadPairs(const JsonFields& fields,
                                                    const std::vector<std::string>& targets) {
  constexpr const char* kField = "language_pairs";
  std::vector<LanguagePair> pairs;
  const nlohmann::json* json = fields.Find(kField);
  if (json == nullptr) return pairs;
  const auto wrong = [&] {
    return fields.Wrong(kField, "pairs of a source and a target that has a >>token<<");
  };
  if (!json->is_array() || json->empty()) return wrong();
  for (const nlohmann::json& pair : *json) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_string()) {
      return wrong();
    }
    pairs.push_back({pair[0].get<std::string>(), pair[1].get<std::string>()});
    if (pairs.back().source.empty() || !absl::c_linear_search(targets, pairs.back().target)) {
      return wrong();
    }
  }
  return pairs;
}

// source_lang and target_lang may be groups, such as "deu+eng+fra".  Then each member is a source,
// and `>>xx<<` selects the target.  The model's own target needs no token.
Languages MakeLanguages(const std::string& source, const std::string& target,
                        const std::vector<std::string>& codes) {
  std::vector<std::string> targets;
  const bool group = absl::StrContains(target, '+') || !ParseLanguage(target).has_value();
  if (!target.empty() && (!group || codes.empty())) targets.push_back(target);
  targets.insert(targets.end(), codes.begin(), codes.end());
  std::vector<std::string> sources;
  if (!source.empty()) sources = absl::StrSplit(source, '+');
  return Languages::All(std::move(sources), std::move(targets), {}, /*target_needed=*/false);
}

// The languages that tokenizer_config.json names, and those of the codes.
absl::StatusOr<Languages> LanguagesOf(const JsonFields& fields,
                                      const std::vector<std::string>& codes) {
  std::string source, target;
  RETURN_IF_ERROR(fields.Read("source_lang", &source));
  RETURN_IF_ERROR(fields.Read("target_lang", &target));
  ASSIGN_OR_RETURN(std::vector<LanguagePair> pairs, ReadPairs(fields, codes));
  if (pairs.empty()) return MakeLanguages(source, target, codes);
  const LanguagePair own = pairs.front();
  return Languages::Only(std::move(pairs), /*source_needed=*/false, own);
}

// Whether JSON may have a key ">>xx<<": also where it writes one of its characters in another way.
bool MayHaveCodes(std::string_view json) {
  if (json.find("\\u003") != json.npos) return true;
  for (size_t at = 0; (at = json.find("\">>", at)) != json.npos; at += 3) {
    const size_t end = json.find('"', at + 1);
    const std::string_view key = json.substr(at + 1, end - at - 1);
    if (key.ends_with("<<") || key.ends_with('\\')) return true;
  }
  return false;
}

// To parse the vocabulary takes a hundred times as long as to see that it has no codes.
absl::StatusOr<Languages> ReadLanguages(const DirectoryFiles& files, const ModelSpec& spec) {
  ASSIGN_OR_RETURN(const auto file, MappedFile::Open(files.Path("vocab.json")));
  std::vector<std::string> codes;
  if (MayHaveCodes(file->text())) {
    ASSIGN_OR_RETURN(const auto vocabulary, ReadVocabulary(files.Path("vocab.json")));
    codes = TargetCodes(*vocabulary);
  }
  return LanguagesOf(TokenizerFields(files), codes);
}

bool HaveSameBytes(const std::string& one, const std::string& other) {
  const auto a = MappedFile::Open(one), b = MappedFile::Open(other);
  return a.ok() && b.ok() && (*a)->bytes() == (*b)->bytes();
}

absl::StatusOr<std::unique_ptr<const Tokenizer>> OpenTokenizer(const DirectoryFiles& files,
                                                               const ModelSpec& spec) {
  bool separate = false;
  RETURN_IF_ERROR(TokenizerFields(files).Read("separate_vocabs", &separate));

  TokenizerParts parts;
  ASSIGN_OR_RETURN(parts.source_pieces, ReadPieceModel(files.Path("source.spm")));
  parts.target_pieces = parts.source_pieces;
  if (!HaveSameBytes(files.Path("source.spm"), files.Path("target.spm"))) {
    ASSIGN_OR_RETURN(parts.target_pieces, ReadPieceModel(files.Path("target.spm")));
  }
  ASSIGN_OR_RETURN(parts.source_vocabulary, ReadVocabulary(files.Path("vocab.json")));
  parts.target_vocabulary = parts.source_vocabulary;
  if (separate) {
    ASSIGN_OR_RETURN(parts.target_vocabulary, ReadVocabulary(files.Path("target_vocab.json")));
  }
  const std::shared_ptr<const Vocabulary> vocabulary = parts.source_vocabulary;
  for (const char* token : kSpecialTokens) {
    parts.special_tokens.push_back({token, *vocabulary->IdOf(token)});
    parts.skipped.push_back(*parts.target_vocabulary->IdOf(token));
  }
  parts.unknown_id = *vocabulary->IdOf("<unk>");
  parts.leading_language_code = true;
  ASSIGN_OR_RETURN(parts.languages, LanguagesOf(TokenizerFields(files), TargetCodes(*vocabulary)));
  parts.frame = TargetTagFrame(vocabulary, *vocabulary->IdOf("</s>"));
  return std::make_unique<const Tokenizer>(std::move(parts));
}

}  // namespace

extern const Adapter adapter;
const Adapter adapter = {
    .family = "Marian",
    .recognizes = Recognizes,
    .configure = Configure,
    .open_tokenizer = OpenTokenizer,
    .open_tensors = OpenCanonicalTensors,
    // Sinusoids, which are computed here, as Hugging Face does.
    .harmless = {"model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight"},
    .read_languages = ReadLanguages,
    .tokenizer_classes = {"MarianTokenizer"}};

}  // namespace dragoman::marian
