#include "engine/families/hugging_face.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/base/json.h"
#include "engine/base/mapped_file.h"
#include "engine/base/status.h"
#include "engine/formats/open_weights.h"
#include "engine/text/chars_map.h"
#include "engine/text/tokenizer_json.h"

namespace dragoman {
namespace {

using Json = nlohmann::json;

constexpr int kMaxBeams = 1 << 10;
constexpr size_t kMaxBadWords = 100'000;

// Options that would change a model's answers if its own configuration set them.  `neutral` is the
// number that has no effect; nor have false, null and an empty list.
absl::Status RefuseUnknownOptions(const JsonFields& fields) {
  static constexpr std::pair<const char*, double> kUnknown[] = {
      {"do_sample", 0},
      {"num_beam_groups", 1},
      {"diversity_penalty", 0},
      {"penalty_alpha", 0},
      {"encoder_no_repeat_ngram_size", 0},
      {"encoder_repetition_penalty", 1},
      {"suppress_tokens", 0},
      {"begin_suppress_tokens", 0},
      {"force_words_ids", 0},
      {"constraints", 0},
      {"sequence_bias", 0},
      {"forced_decoder_ids", 0},
      {"exponential_decay_length_penalty", 0},
  };
  for (const auto& [field, neutral] : kUnknown) {
    const Json* value = fields.Find(field);
    if (value == nullptr || *value == false || value->empty()) continue;
    if (value->is_number() && value->get<double>() == neutral) continue;
    return fields.Unknown(field, "no such option: this engine does not have it");
  }
  return absl::OkStatus();
}

absl::Status ReadEarlyStopping(const JsonFields& fields,
                               std::optional<EarlyStopping>* early_stopping) {
  const Json* value = fields.Find("early_stopping");
  if (value == nullptr || *value == false) return absl::OkStatus();
  if (*value == true) {
    *early_stopping = EarlyStopping::kFull;
  } else if (*value == "never") {
    *early_stopping = EarlyStopping::kNever;
  } else {
    return fields.Wrong("early_stopping", "true, false or \"never\"");
  }
  return absl::OkStatus();
}

absl::Status ReadBadWords(const JsonFields& fields, const ModelSpec& model,
                          std::vector<std::vector<int32_t>>* bad_words) {
  const Json* value = fields.Find("bad_words_ids");
  if (value == nullptr) return absl::OkStatus();
  const absl::Status wrong = fields.Wrong(
      "bad_words_ids", absl::StrCat("lists of tokens from 0 to ", model.target_vocabulary - 1));
  if (!value->is_array() || value->size() > kMaxBadWords) return wrong;
  for (const Json& word : *value) {
    if (!word.is_array() || word.empty()) return wrong;
    std::vector<int32_t> ids;
    for (const Json& id : word) {
      if (!JsonFields::IsWhole(id, 0, model.target_vocabulary - 1)) return wrong;
      ids.push_back(id.get<int32_t>());
    }
    // Otherwise no translation could ever end; Hugging Face drops the entry, too.
    if (ids != std::vector<int32_t>{model.eos_id}) bad_words->push_back(std::move(ids));
  }
  return absl::OkStatus();
}

// Hugging Face counts the decoder start in max_length and min_length, which we do not, but not in
// *_new_tokens, which take precedence.
absl::Status ReadLengths(const JsonFields& fields, DecodingOptions* options) {
  std::optional<int> longest, shortest, shortest_new;
  RETURN_IF_ERROR(fields.Read("max_length", 1, kMaxLength, &longest));
  RETURN_IF_ERROR(fields.Read("min_length", 0, kMaxLength, &shortest));
  if (longest > 1) options->max_length = *longest - 1;
  if (shortest > 0) options->min_length = *shortest - 1;
  RETURN_IF_ERROR(fields.Read("max_new_tokens", 1, kMaxLength, &options->max_length));
  RETURN_IF_ERROR(fields.Read("min_new_tokens", 0, kMaxLength, &shortest_new));
  if (shortest_new > 0) options->min_length = shortest_new;
  return absl::OkStatus();
}

// eos_token_id may be a list with one element.
absl::Status ReadEos(const JsonFields& fields, ModelSpec* model) {
  const int last = std::min(model->source_vocabulary, model->target_vocabulary) - 1;
  const Json* eos = fields.Find("eos_token_id");
  if (eos == nullptr || !eos->is_array()) {
    return fields.Require("eos_token_id", 0, last, &model->eos_id);
  }
  if (eos->size() > 1) return fields.Unknown("eos_token_id", "one token");
  if (eos->empty() || !JsonFields::IsWhole((*eos)[0], 0, last)) {
    return fields.Wrong("eos_token_id", absl::StrCat("a token from 0 to ", last));
  }
  model->eos_id = (*eos)[0].get<int32_t>();
  return absl::OkStatus();
}

}  // namespace

ConfigFields::ConfigFields(const DirectoryFiles& files)
    : model({{"config.json", &files.config}}),
      search({{"generation_config.json", &files.generation}, {"config.json", &files.config}}) {}

JsonFields TokenizerFields(const DirectoryFiles& files) {
  return JsonFields({{files.Path("tokenizer_config.json"), &files.tokenizer}});
}

absl::StatusOr<Json> ReadOptionalJson(const DirectoryFiles& files, const std::string& file) {
  absl::StatusOr<Json> json = ReadJsonObject(files.Path(file));
  if (absl::IsNotFound(json.status())) return Json::object();
  return json;
}

bool IsModel(const DirectoryFiles& files, const char* model_type, const char* architecture) {
  const std::string type = files.ModelType();
  if (!type.empty()) return type == model_type;
  return Member(files.config, "architectures") == Json::array({architecture});
}

absl::Status CheckArchitecture(const JsonFields& fields, const char* architecture) {
  const Json* architectures = fields.Find("architectures");
  if (architectures != nullptr && *architectures != Json::array({architecture})) {
    return fields.Unknown("architectures", absl::StrCat("[\"", architecture, "\"]"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Activation> ReadActivation(const JsonFields& fields, const char* field,
                                          Activation otherwise) {
  static constexpr std::pair<const char*, Activation> kKnown[] = {
      {"swish", Activation::kSilu},
      {"silu", Activation::kSilu},
      {"relu", Activation::kRelu},
      {"gelu", Activation::kGelu},
      {"gelu_new", Activation::kGeluTanh},
      {"gelu_pytorch_tanh", Activation::kGeluTanh},
      {"gelu_fast", Activation::kGeluTanh},
      {"gelu_accurate", Activation::kGeluTanh},
      {"quick_gelu", Activation::kGeluSigmoid}};
  const Json* name = fields.Find(field);
  if (name == nullptr) return otherwise;
  for (const auto& [known, activation] : kKnown) {
    if (*name == known) return activation;
  }
  return fields.Unknown(field, "swish, silu, relu, gelu, gelu_new or quick_gelu");
}

absl::Status ReadStacks(const JsonFields& fields, StackDefaults defaults, ModelSpec* spec) {
  const struct {
    const char* field;
    int most;
    int* value;
  } required[] = {
      {"d_model", kMaxWidth, &spec->d_model},
      {"encoder_layers", kMaxLayers, &spec->encoder_layers},
      {"decoder_layers", kMaxLayers, &spec->decoder_layers},
      {"encoder_attention_heads", kMaxWidth, &spec->encoder_heads},
      {"decoder_attention_heads", kMaxWidth, &spec->decoder_heads},
      {"encoder_ffn_dim", kMaxWidth, &spec->encoder_ffn},
      {"decoder_ffn_dim", kMaxWidth, &spec->decoder_ffn},
      {"vocab_size", kMaxVocabulary, &spec->source_vocabulary},
  };
  for (const auto& [field, most, value] : required) {
    RETURN_IF_ERROR(fields.Require(field, 1, most, value));
  }
  spec->target_vocabulary = spec->source_vocabulary;
  if (spec->d_model % 2 != 0) {
    return fields.Wrong("d_model", "an even number: positions are half sines, half cosines");
  }
  for (const auto& [field, heads] : {std::pair("encoder_attention_heads", spec->encoder_heads),
                                     std::pair("decoder_attention_heads", spec->decoder_heads)}) {
    if (spec->d_model % heads != 0) {
      return fields.Wrong(field, absl::StrCat("a divisor of d_model, which is ", spec->d_model));
    }
  }
  spec->max_positions = 1024;
  const int most = std::min(kMaxLength, kMaxPositionTable / spec->d_model);
  RETURN_IF_ERROR(fields.Read("max_position_embeddings", 1, most, &spec->max_positions));
  bool scaled = defaults.scale_embedding;
  RETURN_IF_ERROR(fields.Read("scale_embedding", &scaled));
  if (scaled) spec->embedding_scale = std::sqrt(static_cast<float>(spec->d_model));
  ASSIGN_OR_RETURN(spec->activation,
                   ReadActivation(fields, "activation_function", defaults.activation));
  return absl::OkStatus();
}

absl::Status ReadSpecialTokens(const JsonFields& fields, SpecialTokens defaults, ModelSpec* spec) {
  const int last = spec->target_vocabulary - 1;
  if (defaults.eos.has_value() && fields.Find("eos_token_id") == nullptr) {
    spec->eos_id = *defaults.eos;
  } else {
    RETURN_IF_ERROR(ReadEos(fields, spec));
  }
  int32_t pad_id = defaults.pad.value_or(0);
  if (!defaults.pad.has_value() || fields.Find("pad_token_id") != nullptr) {
    RETURN_IF_ERROR(fields.Require("pad_token_id", 0, last, &pad_id));
  }
  spec->decoder_start_id = defaults.starts_with_eos ? spec->eos_id : pad_id;
  return fields.Read("decoder_start_token_id", 0, last, &spec->decoder_start_id);
}

absl::StatusOr<std::vector<SpecialToken>> ReadAddedTokens(const DirectoryFiles& files,
                                                          const ModelSpec& spec) {
  std::vector<SpecialToken> tokens;
  const Json decoder = files.tokenizer.value("added_tokens_decoder", Json::object());
  if (!decoder.is_object()) {
    return InvalidArgumentError(files.Path("tokenizer_config.json"),
                                ": added_tokens_decoder is not an object");
  }
  const int last = spec.source_vocabulary - 1;
  for (const auto& [key, token] : decoder.items()) {
    int id = 0;
    const Json& content = Member(token, "content");
    if (!absl::SimpleAtoi(key, &id) || id < 0 || id > last || !content.is_string()) {
      return InvalidArgumentError(files.Path("tokenizer_config.json"),
                                  ": added_tokens_decoder has ", key, ", want ids from 0 to ", last,
                                  " with their content");
    }
    tokens.push_back({content.get<std::string>(), id, Member(token, "lstrip") == true,
                      Member(token, "rstrip") == true});
  }
  if (!tokens.empty()) return tokens;
  ASSIGN_OR_RETURN(const Json added, ReadOptionalJson(files, "added_tokens.json"));
  for (const auto& [content, id] : added.items()) {
    if (!JsonFields::IsWhole(id, 0, last)) {
      return InvalidArgumentError(files.Path("added_tokens.json"), ": the id of \"", content,
                                  "\" is not a token from 0 to ", last);
    }
    tokens.push_back({content, id.get<int32_t>()});
  }
  return tokens;
}

absl::StatusOr<std::vector<std::string>> ReadAdditionalSpecialTokens(const DirectoryFiles& files) {
  std::vector<std::string> tokens;
  // transformers 5 calls the field extra_special_tokens, and in version 4 that was an object.
  for (const auto& [file, field] :
       {std::pair("special_tokens_map.json", "additional_special_tokens"),
        {"tokenizer_config.json", "additional_special_tokens"},
        {"tokenizer_config.json", "extra_special_tokens"}}) {
    ASSIGN_OR_RETURN(const Json json, ReadOptionalJson(files, file));
    const auto it = json.find(field);
    if (it == json.end() || !it->is_array() || it->empty()) continue;
    for (const Json& token : *it) {
      const Json& content = token.is_object() ? token.value("content", Json()) : token;
      if (!content.is_string()) {
        return InvalidArgumentError(files.Path(file), ": ", field, " are not strings");
      }
      tokens.push_back(content.get<std::string>());
    }
    return tokens;
  }
  return tokens;
}

namespace {

// The first of these files that the directory has, or tokenizer.json; the first if it has none.
std::string FileOfPieces(const DirectoryFiles& files, std::vector<const char*> names) {
  names.push_back(kTokenizerJson);
  for (const char* const name : names) {
    if (files.Has(name)) return name;
  }
  return names.front();
}

}  // namespace

absl::StatusOr<PieceList> ListPieces(const DirectoryFiles& files, const ModelSpec& spec,
                                     std::vector<const char*> names) {
  const std::string name = FileOfPieces(files, std::move(names));
  if (name == kTokenizerJson) {
    ASSIGN_OR_RETURN(TokenizerLists lists, ReadTokenizerLists(files.Path(name)));
    return PieceList{std::move(lists.pieces), std::move(lists.added), /*is_json=*/true};
  }
  PieceList list;
  ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file,
                   MappedFile::Open(files.Path(name)));
  list.pieces = PiecesIn(file->text());
  ASSIGN_OR_RETURN(list.added, ReadAddedTokens(files, spec));
  return list;
}

absl::StatusOr<DirectoryPieces> OpenPieces(const DirectoryFiles& files, const ModelSpec& spec,
                                           std::vector<const char*> names) {
  const std::string name = FileOfPieces(files, std::move(names));
  DirectoryPieces pieces;
  if (name == kTokenizerJson) {
    ASSIGN_OR_RETURN(TokenizerJson json, ReadTokenizerJson(files.Path(name)));
    pieces.model = std::move(json.pieces);
    pieces.list.added = std::move(json.added);
    pieces.list.is_json = true;
    pieces.around.before = std::move(json.before);
    pieces.around.after = std::move(json.after);
  } else {
    ASSIGN_OR_RETURN(pieces.model, ReadPieceModel(files.Path(name)));
    ASSIGN_OR_RETURN(pieces.list.added, ReadAddedTokens(files, spec));
  }
  pieces.list.pieces = pieces.model->Pieces();
  return pieces;
}

void SetPieces(const DirectoryPieces& pieces, TokenizerParts* parts) {
  parts->source_pieces = parts->target_pieces = pieces.model;
  parts->numbered_pieces = pieces.list.is_json;
}

absl::Status CheckFrame(const DirectoryFiles& files, const DirectoryPieces& pieces,
                        const Frame& frame, const std::map<std::string, int32_t>& languages) {
  if (!pieces.list.is_json) return absl::OkStatus();
  const auto alike = [&](int32_t a, int32_t b) {
    const auto is_language = [&](int32_t id) {
      return absl::c_any_of(languages,
                            [id](const auto& language) { return language.second == id; });
    };
    return a == b || (is_language(a) && is_language(b));
  };
  const auto agree = [&](const std::vector<int32_t>& a, const std::vector<int32_t>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), alike);
  };
  const Frame& around = pieces.around;
  if (agree(around.before, frame.before) && agree(around.after, frame.after)) {
    return absl::OkStatus();
  }
  const auto words = [](const Frame& tokens) {
    return absl::StrCat("[", absl::StrJoin(tokens.before, " "), "] and [",
                        absl::StrJoin(tokens.after, " "), "]");
  };
  return UnimplementedError(files.Path(kTokenizerJson), ": post_processor puts the tokens ",
                            words(around), " around a text, want ", words(frame));
}

absl::Status AddSpecialTokens(const std::vector<SpecialToken>& tokens, TokenizerParts* parts,
                              Vocabulary* vocabulary) {
  for (const SpecialToken& token : tokens) {
    RETURN_IF_ERROR(vocabulary->Add(token.text, token.id));
    parts->special_tokens.push_back(token);
    if (!token.is_text) parts->skipped.push_back(token.id);
  }
  return absl::OkStatus();
}

absl::StatusOr<Vocabulary> VocabularyOf(const PieceList& list) {
  Vocabulary vocabulary;
  for (size_t id = 0; id < list.pieces.size(); ++id) {
    if (list.is_json && list.pieces[id].empty()) continue;
    RETURN_IF_ERROR(vocabulary.Add(list.pieces[id], static_cast<int64_t>(id)));
  }
  return vocabulary;
}

absl::StatusOr<Vocabulary> FairseqVocabulary(const PieceList& list) {
  if (list.is_json) return VocabularyOf(list);
  Vocabulary vocabulary;
  int32_t id = 0;
  for (const char* token : {"<s>", "<pad>", "</s>", "<unk>"}) {
    RETURN_IF_ERROR(vocabulary.Add(token, id++));
  }
  for (size_t i = 3; i < list.pieces.size(); ++i) {
    RETURN_IF_ERROR(vocabulary.Add(list.pieces[i], static_cast<int64_t>(i) + 1));
  }
  return vocabulary;
}

absl::StatusOr<GenerationConfig> ReadGeneration(const JsonFields& fields, const ModelSpec& spec) {
  GenerationConfig generation;
  RETURN_IF_ERROR(RefuseUnknownOptions(fields));
  DecodingOptions& options = generation.options;
  RETURN_IF_ERROR(ReadLengths(fields, &options));
  RETURN_IF_ERROR(fields.Read("num_beams", 1, kMaxBeams, &options.beam_size));
  RETURN_IF_ERROR(fields.Read("length_penalty", &options.length_penalty));
  RETURN_IF_ERROR(ReadEarlyStopping(fields, &options.early_stopping));
  RETURN_IF_ERROR(
      fields.Read("no_repeat_ngram_size", 0, kMaxLength, &options.no_repeat_ngram_size));
  RETURN_IF_ERROR(fields.Read("repetition_penalty", &options.repetition_penalty));
  if (options.repetition_penalty.value_or(1.0f) <= 0.0f) {
    return fields.Wrong("repetition_penalty", "a number above 0");
  }
  RETURN_IF_ERROR(fields.Read("renormalize_logits", &options.renormalize_logits));
  RETURN_IF_ERROR(fields.Read("split_sentences", &generation.split_sentences));
  const int last = spec.target_vocabulary - 1;
  RETURN_IF_ERROR(fields.Read("forced_bos_token_id", 0, last, &options.forced_bos_id));
  RETURN_IF_ERROR(fields.Read("forced_eos_token_id", 0, last, &options.forced_eos_id));
  RETURN_IF_ERROR(ReadBadWords(fields, spec, &generation.bad_words_ids));
  return generation;
}

absl::StatusOr<ModelConfig> ConfigureFairseq(const DirectoryFiles& files, const char* architecture,
                                             StackDefaults defaults, ModelSpec spec) {
  const ConfigFields fields(files);
  spec.architecture = architecture;
  spec.pre_norm = true;
  spec.final_norm = true;
  RETURN_IF_ERROR(CheckArchitecture(fields.model, architecture));
  RETURN_IF_ERROR(ReadStacks(fields.model, defaults, &spec));
  RETURN_IF_ERROR(fields.model.Read("tie_word_embeddings", &spec.tied_output));
  RETURN_IF_ERROR(
      ReadSpecialTokens(fields.search, {.eos = 2, .pad = 1, .starts_with_eos = true}, &spec));
  ASSIGN_OR_RETURN(GenerationConfig generation, ReadGeneration(fields.search, spec));
  return ModelConfig{std::move(spec), std::move(generation)};
}

absl::StatusOr<Checkpoint> OpenCanonicalTensors(const DirectoryFiles& files,
                                                const ModelSpec& spec) {
  return OpenWeights(files.path, files.lora);
}

bool HasTokenizerClass(const DirectoryFiles& files, const char* name) {
  return TextIn(files.tokenizer, "tokenizer_class") == name;
}

bool HasSmall100Tokenizer(const DirectoryFiles& files) {
  return files.Has("tokenization_small100.py") || HasTokenizerClass(files, "SMALL100Tokenizer");
}

std::string EnglishOf(const std::vector<std::string>& codes) {
  for (const char* code : {"eng_Latn", "en_XX", "en"}) {
    if (absl::c_linear_search(codes, code)) return code;
  }
  return "";
}

absl::StatusOr<LanguagePair> ReadOwnPair(const DirectoryFiles& files,
                                         const std::vector<std::string>& codes) {
  const JsonFields fields = TokenizerFields(files);
  LanguagePair own;
  RETURN_IF_ERROR(fields.Read("src_lang", &own.source));
  RETURN_IF_ERROR(fields.Read("tgt_lang", &own.target));
  if (!absl::c_linear_search(codes, own.source)) own.source = EnglishOf(codes);
  if (!absl::c_linear_search(codes, own.target)) own.target = "";
  return own;
}

std::function<Frame(const LanguagePair&)> TaggedFrame(LanguageTags tags) {
  return [tags = std::move(tags)](const LanguagePair& pair) {
    Frame frame{.after = {tags.eos}};
    const auto source = tags.ids.find(pair.source.empty() ? tags.own.source : pair.source);
    const auto target = tags.ids.find(pair.target.empty() ? tags.own.target : pair.target);
    if (source != tags.ids.end() && !tags.target_in_front) {
      (tags.source_last ? frame.after : frame.before).push_back(source->second);
    }
    if (target == tags.ids.end()) return frame;
    if (tags.target_in_front) {
      frame.before.push_back(target->second);
    } else {
      (tags.starts ? frame.decoder_start : frame.forced_bos) = target->second;
    }
    return frame;
  };
}

std::string TargetCode(std::string_view piece) {
  const bool is = piece.size() > 4 && piece.starts_with(">>") && piece.ends_with("<<");
  return is ? std::string(piece.substr(2, piece.size() - 4)) : "";
}

std::vector<std::string> TargetCodes(const Vocabulary& vocabulary) {
  std::vector<std::string> codes;
  for (int id = 0; id < vocabulary.size(); ++id) {
    const std::string* piece = vocabulary.Find(id);
    std::string code = piece != nullptr ? TargetCode(*piece) : "";
    if (!code.empty()) codes.push_back(std::move(code));
  }
  absl::c_sort(codes);
  return codes;
}

std::function<Frame(const LanguagePair&)> TargetTagFrame(
    std::shared_ptr<const Vocabulary> vocabulary, int32_t eos) {
  return [vocabulary = std::move(vocabulary), eos](const LanguagePair& pair) {
    Frame frame{.after = {eos}};
    const std::string code = absl::StrCat(">>", pair.target, "<<");
    if (vocabulary->IdOf(code).has_value()) frame.text_prefix = code + " ";
    return frame;
  };
}

}  // namespace dragoman
