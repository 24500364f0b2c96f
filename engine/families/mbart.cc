// mBART-50 and mBART-25 (cc25).  Pre-norm with a final norm, a norm of the embeddings, and learned
// positions that start at row 2.
//
//   mBART-50   en_XX text </s>   the decoder starts with </s> and generates the target language
//   mBART-25   text </s> en_XX   the decoder starts with the target language
//
// Ids are fairseq's: pieces, then languages, then <mask>.

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_split.h"
#include "engine/base/json.h"
#include "engine/base/status.h"
#include "engine/families/adapter.h"
#include "engine/families/hugging_face.h"

namespace dragoman::mbart {
namespace {

constexpr char kArchitecture[] = "MBartForConditionalGeneration";

// In the order of their ids.  mBART-25 has the first 25.
constexpr int kFirst = 25;
constexpr char kLanguages[] =
    "ar_AR cs_CZ de_DE en_XX es_XX et_EE fi_FI fr_XX gu_IN hi_IN it_IT ja_XX kk_KZ ko_KR lt_LT "
    "lv_LV my_MM ne_NP nl_XX ro_RO ru_RU si_LK tr_TR vi_VN zh_CN "
    "af_ZA az_AZ bn_IN fa_IR he_IL hr_HR id_ID ka_GE km_KH mk_MK ml_IN mn_MN mr_IN pl_PL ps_AF "
    "pt_XX sv_SE sw_KE ta_IN te_IN th_TH tl_XX uk_UA ur_PK xh_ZA gl_ES sl_SI";

bool Recognizes(const DirectoryFiles& files) { return IsModel(files, "mbart", kArchitecture); }

absl::StatusOr<ModelConfig> Configure(const DirectoryFiles& files) {
  ModelSpec spec;
  spec.embedding_norm = true;
  spec.positions = {.kind = Positions::kTable, .first = 2};
  ASSIGN_OR_RETURN(ModelConfig config, ConfigureFairseq(files, kArchitecture, {}, spec));
  // The default of the configuration class, which applies if there is no generation_config.json.
  if (files.generation.empty() && Member(files.config, "forced_eos_token_id").is_null()) {
    config.generation.options.forced_eos_id = config.spec.eos_id;
  }
  return config;
}

// Whether the languages are those of mBART-50: the tokenizer says so, or a file lists one that
// mBART-25 lacks, or there are more of them.
bool IsFifty(const nlohmann::json& config, const PieceList& list, int languages) {
  const std::string name = TextIn(config, "tokenizer_class");
  if (name.starts_with("MBart")) return name.starts_with("MBart50");
  const std::vector<std::string> codes = absl::StrSplit(kLanguages, ' ');
  const auto is_later = [&](const SpecialToken& token) {
    return std::find(codes.begin() + kFirst, codes.end(), token.text) != codes.end();
  };
  if (!list.added.empty()) return absl::c_any_of(list.added, is_later);
  return languages > kFirst + 1;  // and <mask>
}

// The languages with their ids, in the order of the ids.
absl::StatusOr<std::vector<SpecialToken>> LanguageTokens(const DirectoryFiles& files,
                                                         const ModelSpec& spec, bool fifty,
                                                         const PieceList& list) {
  std::vector<std::string> codes = absl::StrSplit(kLanguages, ' ');
  if (!fifty) codes.resize(kFirst);
  std::vector<SpecialToken> languages;
  for (const SpecialToken& token : list.added) {
    if (absl::c_linear_search(codes, token.text)) languages.push_back(token);
  }
  if (languages.empty()) {
    int32_t id = static_cast<int32_t>(list.pieces.size()) + 1;
    for (const std::string& code : codes) languages.push_back({code, id++});
  }
  absl::c_sort(languages, [](const SpecialToken& a, const SpecialToken& b) { return a.id < b.id; });
  for (const SpecialToken& language : languages) {
    if (language.id >= spec.source_vocabulary) {
      return InvalidArgumentError(files.path, ": the id of ", language.text, " is ", language.id,
                                  ", but the model has ", spec.source_vocabulary, " tokens");
    }
  }
  return languages;
}

// The special tokens: four in front of the pieces, the languages behind them, and <mask>;
// tokenizer.json lists them all.
std::vector<SpecialToken> SpecialTokensOf(const std::vector<SpecialToken>& languages,
                                          const PieceList& list) {
  if (list.is_json) return list.added;
  std::vector<SpecialToken> special;
  int32_t next = 0;
  for (const char* token : {"<s>", "<pad>", "</s>", "<unk>"}) special.push_back({token, next++});
  special.insert(special.end(), languages.begin(), languages.end());
  const int32_t last =
      languages.empty() ? static_cast<int32_t>(list.pieces.size()) : languages.back().id;
  special.push_back({"<mask>", last + 1, /*trims_left=*/true});
  return special;
}

// A model for one target names it as the first token to generate.
absl::Status ReadOwnTarget(const DirectoryFiles& files, const ModelSpec& spec, bool fifty,
                           const std::map<std::string, int32_t>& ids, std::string* target) {
  std::optional<int32_t> begins;
  RETURN_IF_ERROR(
      ConfigFields(files).search.Read(fifty ? "forced_bos_token_id" : "decoder_start_token_id", 0,
                                      spec.target_vocabulary - 1, &begins));
  for (const auto& [code, id] : ids) {
    if (begins == id) *target = code;
  }
  return absl::OkStatus();
}

// What there is to know of the languages of a model with these pieces.
struct LanguageFacts {
  bool fifty = false;
  std::vector<SpecialToken> tokens;    // in the order of their ids
  std::map<std::string, int32_t> ids;  // of their codes
  LanguagePair own;                    // those of a request that names none
  Languages languages;
};

absl::StatusOr<LanguageFacts> ReadFacts(const DirectoryFiles& files, const ModelSpec& spec,
                                        const PieceList& list) {
  LanguageFacts facts;
  const int pieces = static_cast<int>(list.pieces.size());
  facts.fifty = IsFifty(files.tokenizer, list, spec.source_vocabulary - pieces - 1);
  ASSIGN_OR_RETURN(facts.tokens, LanguageTokens(files, spec, facts.fifty, list));
  std::vector<std::string> codes;
  for (const SpecialToken& language : facts.tokens) {
    facts.ids[language.text] = language.id;
    codes.push_back(language.text);
  }
  ASSIGN_OR_RETURN(facts.own, ReadOwnPair(files, codes));
  RETURN_IF_ERROR(ReadOwnTarget(files, spec, facts.fifty, facts.ids, &facts.own.target));
  facts.languages = Languages::All(codes, codes, facts.own, /*target_needed=*/true);
  return facts;
}

constexpr char kPieces[] = "sentencepiece.bpe.model";

absl::StatusOr<Languages> ReadLanguages(const DirectoryFiles& files, const ModelSpec& spec) {
  ASSIGN_OR_RETURN(const PieceList list, ListPieces(files, spec, {kPieces}));
  ASSIGN_OR_RETURN(LanguageFacts facts, ReadFacts(files, spec, list));
  return std::move(facts.languages);
}

absl::StatusOr<std::unique_ptr<const Tokenizer>> OpenTokenizer(const DirectoryFiles& files,
                                                               const ModelSpec& spec) {
  TokenizerParts parts;
  ASSIGN_OR_RETURN(const DirectoryPieces pieces, OpenPieces(files, spec, {kPieces}));
  SetPieces(pieces, &parts);
  parts.unknown_id = 3;
  ASSIGN_OR_RETURN(const LanguageFacts facts, ReadFacts(files, spec, pieces.list));
  ASSIGN_OR_RETURN(Vocabulary vocabulary, FairseqVocabulary(pieces.list));
  RETURN_IF_ERROR(
      AddSpecialTokens(SpecialTokensOf(facts.tokens, pieces.list), &parts, &vocabulary));
  parts.source_vocabulary = std::make_shared<const Vocabulary>(std::move(vocabulary));
  parts.target_vocabulary = parts.source_vocabulary;
  parts.languages = facts.languages;
  parts.frame = TaggedFrame({.ids = facts.ids,
                             .own = facts.own,
                             .eos = spec.eos_id,
                             .source_last = !facts.fifty,
                             .starts = !facts.fifty});
  RETURN_IF_ERROR(CheckFrame(files, pieces, parts.frame({}), facts.ids));
  return std::make_unique<const Tokenizer>(std::move(parts));
}

}  // namespace

extern const Adapter adapter;
const Adapter adapter = {
    .family = "mBART",
    .recognizes = Recognizes,
    .configure = Configure,
    .open_tokenizer = OpenTokenizer,
    .open_tensors = OpenCanonicalTensors,
    // fairseq's version, in old files.
    .harmless = {"model.encoder.version", "model.decoder.version"},
    .read_languages = ReadLanguages,
    .tokenizer_classes = {"MBartTokenizer", "MBart50Tokenizer", "TokenizersBackend"}};

}  // namespace dragoman::mbart
