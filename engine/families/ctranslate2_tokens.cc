// The vocabularies of a CTranslate2 directory, and the tokens that go around a sentence.
//
// CTranslate2 itself takes tokens and adds those that the configuration says; the other conventions
// of the toolkit that a model comes from are left to its users.  The vocabulary tells which toolkit
// it was: languages such as eng_Latn, en_XX or __en__ are NLLB's, mBART's or M2M100's, >>deu<< is
// OPUS-MT's, <extra_id_0> is T5's.  Models without any of these come from OpenNMT or fairseq, and
// follow their configuration alone.

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "engine/base/mapped_file.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "engine/families/ctranslate2.h"
#include "engine/families/ctranslate2_facts.h"
#include "engine/families/hugging_face.h"

namespace dragoman {
namespace {

constexpr size_t kMaxTextVocabulary = 1 << 28;  // bytes

absl::StatusOr<std::vector<std::string>> ReadTokenLines(const std::string& path) {
  ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file, MappedFile::Open(path));
  std::string_view text = file->text();
  if (text.size() > kMaxTextVocabulary) {
    return InvalidArgumentError(path, ": is not a vocabulary");
  }
  std::vector<std::string> tokens;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    tokens.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  // A token may itself end in a carriage return.  Only if all do is it part of the line ending.
  const auto ends_in_return = [](const std::string& token) { return token.ends_with('\r'); };
  if (absl::c_all_of(tokens, ends_in_return)) {
    for (std::string& token : tokens) token.pop_back();
  }
  return tokens;
}

absl::StatusOr<std::vector<std::string>> ReadTokenArray(const std::string& path) {
  ASSIGN_OR_RETURN(const nlohmann::json json, ReadJsonArray(path));
  std::vector<std::string> tokens;
  for (const nlohmann::json& token : json) {
    if (!token.is_string()) {
      return InvalidArgumentError(path, ": token ", tokens.size(), " is not a string");
    }
    tokens.push_back(token.get<std::string>());
  }
  return tokens;
}

// STEM.json or STEM.txt.  NOT_FOUND if there is neither.
absl::StatusOr<std::shared_ptr<const Vocabulary>> ReadVocabulary(const std::string& stem,
                                                                 const std::string& unk) {
  absl::StatusOr<std::vector<std::string>> tokens = ReadTokenArray(stem + ".json");
  if (absl::IsNotFound(tokens.status())) tokens = ReadTokenLines(stem + ".txt");
  if (!tokens.ok()) return tokens.status();
  if (tokens->size() > static_cast<size_t>(kMaxVocabulary)) {
    return InvalidArgumentError(stem, " has ", tokens->size(), " tokens");
  }
  Vocabulary vocabulary;
  for (size_t id = 0; id < tokens->size(); ++id) {
    const std::string& token = (*tokens)[id];
    if (!IsValidUtf8(token)) {
      return InvalidArgumentError(stem, ": token ", id, " is not UTF-8");
    }
    RETURN_IF_ERROR(vocabulary.Add(token, static_cast<int64_t>(id)));
  }
  if (!vocabulary.IdOf(unk).has_value()) RETURN_IF_ERROR(vocabulary.Add(unk, vocabulary.size()));
  return std::make_shared<const Vocabulary>(std::move(vocabulary));
}

absl::Status ReadVocabularies(CTranslate2Model* model) {
  const auto read = [model](const char* stem) {
    return ReadVocabulary(absl::StrCat(model->path, "/", stem), model->tokens.unk);
  };
  absl::StatusOr<std::shared_ptr<const Vocabulary>> shared = read("shared_vocabulary");
  if (shared.ok()) model->source = model->target = *shared;
  if (!absl::IsNotFound(shared.status())) return shared.status();
  ASSIGN_OR_RETURN(model->target, read("target_vocabulary"));
  absl::StatusOr<std::shared_ptr<const Vocabulary>> source = read("source_vocabulary");
  if (absl::IsNotFound(source.status())) source = read("source_1_vocabulary");
  if (!source.ok()) return source.status();
  model->source = *source;
  return absl::OkStatus();
}

// Reads a string among the variables of an older file.
void ReadText(const Checkpoint& variables, const char* name, std::string* text) {
  const absl::StatusOr<Tensor> tensor = variables.Take(name);
  if (!tensor.ok() || tensor->dtype != DType::kI8) return;
  text->assign(reinterpret_cast<const char*>(tensor->bytes.data()), tensor->bytes.size());
}

absl::Status ReadOldTokens(const Checkpoint& variables, CTranslate2Tokens* tokens) {
  const CTranslate2Facts facts(variables);
  ReadText(variables, "unk_token", &tokens->unk);
  ReadText(variables, "bos_token", &tokens->bos);
  ReadText(variables, "eos_token", &tokens->eos);
  ASSIGN_OR_RETURN(const double source_bos, facts.Number("with_source_bos", 0));
  ASSIGN_OR_RETURN(const double source_eos, facts.Number("with_source_eos", 0));
  ASSIGN_OR_RETURN(const double target_bos, facts.Number("with_target_bos", 1));
  ASSIGN_OR_RETURN(const double callers_start, facts.Number("user_decoder_start_tokens", 0));
  tokens->add_source_bos = source_bos != 0;
  tokens->add_source_eos = source_eos != 0;
  tokens->start = callers_start != 0 ? "" : target_bos != 0 ? tokens->bos : tokens->eos;
  return absl::OkStatus();
}

absl::Status ReadTokens(const JsonFields& config, CTranslate2Tokens* tokens) {
  RETURN_IF_ERROR(config.Read("unk_token", &tokens->unk));
  RETURN_IF_ERROR(config.Read("bos_token", &tokens->bos));
  RETURN_IF_ERROR(config.Read("eos_token", &tokens->eos));
  RETURN_IF_ERROR(config.Read("add_source_bos", &tokens->add_source_bos));
  RETURN_IF_ERROR(config.Read("add_source_eos", &tokens->add_source_eos));
  tokens->start.clear();  // null: the caller chooses
  return config.Read("decoder_start_token", &tokens->start);
}

// --- languages

bool AreLower(std::string_view text) {
  return absl::c_all_of(text, [](unsigned char c) { return absl::ascii_islower(c); });
}
bool AreUpper(std::string_view text) {
  return absl::c_all_of(text, [](unsigned char c) { return absl::ascii_isupper(c); });
}

// Each returns the language that a token names, or "".
std::string NllbCode(std::string_view t) {
  const bool is = t.size() == 8 && t[3] == '_' && AreLower(t.substr(0, 3)) &&
                  AreUpper(t.substr(4, 1)) && AreLower(t.substr(5));
  return is ? std::string(t) : "";
}
std::string MBartCode(std::string_view t) {
  const bool is = t.size() == 5 && t[2] == '_' && AreLower(t.substr(0, 2)) && AreUpper(t.substr(3));
  return is ? std::string(t) : "";
}
std::string M2M100Code(std::string_view t) {
  const bool is = t.size() > 5 && t.size() < 9 && t.starts_with("__") && t.ends_with("__") &&
                  AreLower(t.substr(2, t.size() - 4));
  return is ? std::string(t.substr(2, t.size() - 4)) : "";
}

struct Codes {
  std::map<std::string, int32_t> ids;
  std::vector<std::string> order;  // by id

  bool empty() const { return order.empty(); }
};

// A vocabulary may contain one such word by chance, so there must be several.
Codes CodesOf(const Vocabulary& vocabulary, std::string (*code_of)(std::string_view)) {
  Codes codes;
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    const std::string* const piece = vocabulary.Find(id);
    const std::string code = piece != nullptr ? code_of(*piece) : "";
    if (!code.empty() && codes.ids.emplace(code, id).second) codes.order.push_back(code);
  }
  constexpr size_t kFewest = 2;
  return codes.order.size() >= kFewest ? codes : Codes();
}

// Language tags on both sides.  NLLB, M2M100 and mBART-50 put the source language first; mBART-25,
// whose decoder starts with the target language, puts it last.  SMaLL-100 has the target language
// in front of the source, and nowhere else.
void SetTaggedFrame(const Codes& codes, int32_t eos, bool start_is_language, bool small100,
                    TokenizerParts* parts) {
  const LanguagePair own = {EnglishOf(codes.order), ""};
  parts->languages = Languages::All(codes.order, codes.order, own, /*target_needed=*/true);
  for (const auto& [code, id] : codes.ids) parts->skipped.push_back(id);
  parts->frame = TaggedFrame({codes.ids, own, eos, /*source_last=*/start_is_language,
                              /*starts=*/start_is_language, /*target_in_front=*/small100});
}

// One token before the text may name the target language: OPUS-MT.
void SetTargetTagFrame(const Codes& codes, int32_t eos, TokenizerParts* parts) {
  if (!codes.empty()) {
    parts->leading_language_code = true;
    parts->languages = Languages::All({}, codes.order, {}, /*target_needed=*/false);
  }
  parts->frame = TaggedFrame({.ids = codes.ids, .eos = eos, .target_in_front = true});
}

}  // namespace

absl::StatusOr<CTranslate2Model> OpenCTranslate2Model(const std::string& directory) {
  ASSIGN_OR_RETURN(CTranslate2File file, OpenCTranslate2File(directory + "/model.bin"));
  MoveRootFacts(&file);
  CTranslate2Model model{directory, std::move(file), nlohmann::json::object(),
                         {},        nullptr,         nullptr};
  const std::string path = directory + "/config.json";
  absl::StatusOr<nlohmann::json> config = ReadJsonObject(path);
  if (config.ok()) model.config = *std::move(config);
  if (!config.ok() && !absl::IsNotFound(config.status())) return config.status();
  constexpr uint32_t kWithConfig = 6;
  if (model.file.version < kWithConfig) {
    RETURN_IF_ERROR(ReadOldTokens(model.file.variables, &model.tokens));
  } else {
    RETURN_IF_ERROR(ReadTokens(JsonFields({{path, &model.config}}), &model.tokens));
  }
  RETURN_IF_ERROR(ReadVocabularies(&model));
  return model;
}

int32_t IdOrUnknown(const Vocabulary& vocabulary, const std::string& token,
                    const CTranslate2Tokens& tokens) {
  const std::optional<int32_t> id = vocabulary.IdOf(token);
  return id.has_value() ? *id : *vocabulary.IdOf(tokens.unk);
}

TokenizerParts CTranslate2TokenizerParts(const CTranslate2Model& model,
                                         std::shared_ptr<const PieceModel> source_pieces,
                                         std::shared_ptr<const PieceModel> target_pieces) {
  const CTranslate2Tokens& tokens = model.tokens;
  TokenizerParts parts;
  parts.source_pieces = std::move(source_pieces);
  parts.target_pieces = std::move(target_pieces);
  parts.source_vocabulary = model.source;
  parts.target_vocabulary = model.target;
  parts.unknown_id = *model.source->IdOf(tokens.unk);
  parts.target_unknown_id = *model.target->IdOf(tokens.unk);
  for (const std::string& token : {tokens.unk, tokens.bos, tokens.eos, std::string("<pad>")}) {
    if (const auto id = model.target->IdOf(token)) parts.skipped.push_back(*id);
  }
  Frame frame;
  const auto id = [&](const std::string& token) {
    return IdOrUnknown(*model.source, token, tokens);
  };
  if (tokens.add_source_bos) frame.before.push_back(id(tokens.bos));
  if (tokens.add_source_eos) frame.after.push_back(id(tokens.eos));
  parts.frame = [frame](const LanguagePair&) { return frame; };
  return parts;
}

absl::Status AddToolkitHabits(const CTranslate2Model& model, const ModelSpec& spec, bool small100,
                              TokenizerParts* parts) {
  const CTranslate2Tokens& tokens = model.tokens;
  const Vocabulary& source = *model.source;
  Codes tagged, targets;
  for (const auto code_of : {NllbCode, MBartCode, M2M100Code}) {
    if (tagged.empty()) tagged = CodesOf(source, code_of);
  }
  const bool has_tag = tokens.add_source_bos && !TargetCode(tokens.bos).empty();
  if (tagged.empty() && !has_tag) targets = CodesOf(source, TargetCode);
  const bool hugging_face =
      !tagged.empty() || spec.zero_start || source.IdOf("<extra_id_0>").has_value();
  if (!hugging_face && targets.empty()) return absl::OkStatus();
  const std::optional<int32_t> eos = source.IdOf(tokens.eos);
  if (!eos.has_value()) {
    return InvalidArgumentError(model.path, ": the source vocabulary has no ", tokens.eos);
  }
  if (hugging_face) {
    for (const std::string& token : {tokens.unk, tokens.eos, std::string("<pad>")}) {
      if (const auto id = source.IdOf(token)) parts->special_tokens.push_back({token, *id});
    }
  }
  const std::vector<int32_t> before = parts->frame({}).before;
  if (!tagged.empty()) {
    // SMaLL-100 has a fourth as many layers in its decoder; M2M100 as many.
    const bool shaped = spec.encoder_layers == 12 && spec.decoder_layers == 3;
    const bool is_small100 =
        small100 || (shaped && !M2M100Code("__" + tagged.order[0] + "__").empty());
    SetTaggedFrame(tagged, *eos, tokens.start.empty(), is_small100, parts);
  } else {
    SetTargetTagFrame(targets, *eos, parts);
  }
  parts->frame = [before, frame_of = std::move(parts->frame)](const LanguagePair& pair) {
    Frame frame = frame_of(pair);
    frame.before.insert(frame.before.begin(), before.begin(), before.end());
    return frame;
  };
  return absl::OkStatus();
}

}  // namespace dragoman
