// M2M100, and NLLB-200, which is an M2M100 with another tokenizer.  Pre-norm with a final norm;
// sinusoidal positions that start at 2 and whose frequencies reach 1 / 10000.
//
//   M2M100   __en__ text </s>     pieces by vocab.json, then the languages
//   NLLB     eng_Latn text </s>   pieces in fairseq's numbering, then the languages and <mask>;
//            with legacy_behaviour: text </s> eng_Latn
//   SMaLL-100   __de__ text </s>  of the target language; the rest as M2M100
//
// The decoder starts with </s>, and the first token that it generates is the target language; of
// SMaLL-100 it is the first one of the text.

#include <map>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/base/status.h"
#include "engine/families/adapter.h"
#include "engine/families/hugging_face.h"

namespace dragoman::m2m100 {
namespace {

constexpr char kArchitecture[] = "M2M100ForConditionalGeneration";
constexpr char kPieces[] = "sentencepiece.bpe.model";

// In the order of their ids.
constexpr char kM2M100Languages[] =
    "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu "
    "ha he hi hr ht hu hy id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms "
    "my ne nl no ns oc or pa pl ps pt ro ru sd si sk sl so sq sr ss su sv sw ta th tl tn tr uk ur "
    "uz "
    "vi wo xh yi yo zh zu";
constexpr char kWmt21Languages[] = "en ha is ja cs ru zh de";

bool Recognizes(const DirectoryFiles& files) { return IsModel(files, "m2m_100", kArchitecture); }

absl::StatusOr<ModelConfig> Configure(const DirectoryFiles& files) {
  ModelSpec spec;
  spec.positions = {.kind = Positions::kSinusoids, .first = 2, .to_the_end = true};
  return ConfigureFairseq(files, kArchitecture,
                          {.activation = Activation::kRelu, .scale_embedding = true}, spec);
}

// What both tokenizers have: pieces, and languages with their ids.
struct Parts {
  TokenizerParts tokenizer;
  Vocabulary vocabulary;
  std::map<std::string, int32_t> languages;  // codes without underscores
  std::vector<std::string> codes;            // in the order of their ids
};

absl::Status AddLanguage(const std::string& code, const std::string& piece, int32_t id,
                         Parts* parts) {
  RETURN_IF_ERROR(parts->vocabulary.Add(piece, id));
  parts->languages[code] = id;
  parts->codes.push_back(code);
  parts->tokenizer.skipped.push_back(id);
  return absl::OkStatus();
}

// The languages of an M2M100, in the order of their ids.
absl::StatusOr<std::vector<std::string>> M2M100Codes(const DirectoryFiles& files) {
  std::string set = "m2m100";
  RETURN_IF_ERROR(TokenizerFields(files).Read("language_codes", &set));
  return std::vector<std::string>(
      absl::StrSplit(set == "wmt21" ? kWmt21Languages : kM2M100Languages, ' '));
}

// The ids after those of vocab.json belong to the languages.
absl::Status ReadM2M100(const DirectoryFiles& files, Parts* parts) {
  ASSIGN_OR_RETURN(parts->vocabulary, Vocabulary::ReadJson(files.Path("vocab.json")));
  for (const char* token : {"<s>", "<pad>", "</s>", "<unk>"}) {
    const std::optional<int32_t> id = parts->vocabulary.IdOf(token);
    if (!id.has_value()) {
      return InvalidArgumentError(files.Path("vocab.json"), ": has no ", token);
    }
    RETURN_IF_ERROR(AddSpecialTokens({{token, *id}}, &parts->tokenizer, &parts->vocabulary));
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> codes, M2M100Codes(files));
  ASSIGN_OR_RETURN(const std::vector<std::string> listed, ReadAdditionalSpecialTokens(files));
  int32_t id = parts->vocabulary.size();
  for (const std::string& code : codes) {
    const std::string piece = absl::StrCat("__", code, "__");
    if (absl::c_linear_search(listed, piece)) {
      parts->tokenizer.special_tokens.push_back({piece, id});
    }
    RETURN_IF_ERROR(AddLanguage(code, piece, id++, parts));
  }
  return absl::OkStatus();
}

// A code such as "ace_Arab".
bool IsNllbLanguage(const std::string& token) {
  const std::vector<std::string> halves = absl::StrSplit(token, '_');
  return halves.size() == 2 && halves[0].size() == 3 && halves[1].size() == 4;
}

// The special tokens of an NLLB, languages among them, in the order of their ids.  The files that
// list added tokens have the ids of the languages.  Without such files, the languages follow the
// pieces in the order of the special tokens.
absl::StatusOr<std::vector<SpecialToken>> NllbTokens(const DirectoryFiles& files,
                                                     const PieceList& list) {
  std::vector<SpecialToken> added = list.added;
  const auto is_language = [](const SpecialToken& token) { return IsNllbLanguage(token.text); };
  if (absl::c_none_of(added, is_language)) {
    ASSIGN_OR_RETURN(const std::vector<std::string> listed, ReadAdditionalSpecialTokens(files));
    int32_t id = static_cast<int32_t>(list.pieces.size()) + 1;
    for (const std::string& token : listed) {
      if (IsNllbLanguage(token)) added.push_back({token, id++});
    }
    added.push_back({"<mask>", id, /*trims_left=*/true});
  }
  if (absl::c_none_of(added, is_language)) {
    return InvalidArgumentError(files.Path("special_tokens_map.json"), ": names no languages");
  }
  int32_t id = 0;
  if (!list.is_json) {
    for (const char* token : {"<s>", "<pad>", "</s>", "<unk>"}) added.push_back({token, id++});
  }
  absl::c_sort(added, [](const SpecialToken& a, const SpecialToken& b) { return a.id < b.id; });
  return added;
}

absl::Status ReadNllb(const DirectoryFiles& files, const PieceList& list, Parts* parts) {
  ASSIGN_OR_RETURN(parts->vocabulary, FairseqVocabulary(list));
  ASSIGN_OR_RETURN(const std::vector<SpecialToken> tokens, NllbTokens(files, list));
  RETURN_IF_ERROR(AddSpecialTokens(tokens, &parts->tokenizer, &parts->vocabulary));
  for (const SpecialToken& token : tokens) {
    if (!IsNllbLanguage(token.text)) continue;
    RETURN_IF_ERROR(AddLanguage(token.text, token.text, token.id, parts));
  }
  return absl::OkStatus();
}

// Needs no ids, so no vocabulary.
absl::StatusOr<Languages> ReadLanguages(const DirectoryFiles& files, const ModelSpec& spec) {
  std::vector<std::string> codes;
  if (files.Has("vocab.json")) {
    ASSIGN_OR_RETURN(codes, M2M100Codes(files));
  } else {
    // Beside a SentencePiece model, the order of the added tokens is enough.
    PieceList list;
    if (files.Has(kPieces)) {
      ASSIGN_OR_RETURN(list.added, ReadAddedTokens(files, spec));
    } else {
      ASSIGN_OR_RETURN(list, ListPieces(files, spec, {kPieces}));
    }
    ASSIGN_OR_RETURN(const std::vector<SpecialToken> tokens, NllbTokens(files, list));
    for (const SpecialToken& token : tokens) {
      if (IsNllbLanguage(token.text)) codes.push_back(token.text);
    }
  }
  ASSIGN_OR_RETURN(const LanguagePair own, ReadOwnPair(files, codes));
  return Languages::All(codes, codes, own, /*target_needed=*/true);
}

absl::StatusOr<std::unique_ptr<const Tokenizer>> OpenTokenizer(const DirectoryFiles& files,
                                                               const ModelSpec& spec) {
  Parts parts;
  TokenizerParts& tokenizer = parts.tokenizer;
  DirectoryPieces pieces;
  if (files.Has("vocab.json")) {
    ASSIGN_OR_RETURN(pieces.model, ReadPieceModel(files.Path(kPieces)));
    RETURN_IF_ERROR(ReadM2M100(files, &parts));
  } else {
    ASSIGN_OR_RETURN(pieces, OpenPieces(files, spec, {kPieces}));
    RETURN_IF_ERROR(ReadNllb(files, pieces.list, &parts));
  }
  SetPieces(pieces, &tokenizer);
  bool legacy = false;
  RETURN_IF_ERROR(TokenizerFields(files).Read("legacy_behaviour", &legacy));
  ASSIGN_OR_RETURN(const LanguagePair own, ReadOwnPair(files, parts.codes));
  tokenizer.unknown_id = parts.vocabulary.IdOf("<unk>").value_or(0);
  tokenizer.languages = Languages::All(parts.codes, parts.codes, own, /*target_needed=*/true);
  tokenizer.frame = TaggedFrame({.ids = parts.languages,
                                 .own = own,
                                 .eos = spec.eos_id,
                                 .source_last = legacy,
                                 .target_in_front = HasSmall100Tokenizer(files)});
  RETURN_IF_ERROR(CheckFrame(files, pieces, tokenizer.frame({}), parts.languages));
  tokenizer.source_vocabulary = std::make_shared<const Vocabulary>(std::move(parts.vocabulary));
  tokenizer.target_vocabulary = tokenizer.source_vocabulary;
  return std::make_unique<const Tokenizer>(std::move(tokenizer));
}

}  // namespace

extern const Adapter adapter;
const Adapter adapter = {
    .family = "M2M100 and NLLB",
    .recognizes = Recognizes,
    .configure = Configure,
    .open_tokenizer = OpenTokenizer,
    .open_tensors = OpenCanonicalTensors,
    // Sinusoids, which are computed here, and fairseq's version, in old files.
    .harmless = {"model.encoder.embed_positions.*", "model.decoder.embed_positions.*",
                 "model.encoder.version", "model.decoder.version"},
    .read_languages = ReadLanguages,
    .tokenizer_classes = {"M2M100Tokenizer", "NllbTokenizer", "SMALL100Tokenizer",
                          "TokenizersBackend"}};

}  // namespace dragoman::m2m100
