#include "engine/model/formats/marian.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/json.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

using Json = nlohmann::json;

constexpr char kArchitecture[] = "MarianMTModel";
constexpr char kModelType[] = "marian";

// Bounds far above any real model: beyond them a number is a mistake, and arithmetic could
// overflow.
constexpr int kMaxWidth = 1 << 16;
constexpr int kMaxLayers = 1 << 10;
constexpr int kMaxVocabulary = 10'000'000;
constexpr int kMaxLength = 1 << 20;
constexpr int kMaxPositionTable = 1 << 25;  // positions x d_model
constexpr int kMaxBeams = 1 << 10;
constexpr size_t kMaxBadWords = 100'000;

// The fields of one or two files; the first that gives a field decides.  Null means not given.
class Fields {
 public:
  struct File {
    std::string name;
    const Json* json;
  };
  explicit Fields(std::vector<File> files) : files_(std::move(files)) {}

  // nullptr if no file gives the field.
  const Json* Find(const std::string& field) const {
    const File* file = FileOf(field);
    return file != nullptr ? &file->json->at(field) : nullptr;
  }

  // "config.json: d_model is "wide", want a whole number".
  absl::Status Wrong(const std::string& field, const std::string& want) const {
    return absl::InvalidArgumentError(Message(field, want));
  }
  absl::Status Unknown(const std::string& field, const std::string& want) const {
    return absl::UnimplementedError(Message(field, want));
  }

  // Each of these leaves *value alone if no file gives the field.
  absl::Status Read(const std::string& field, int least, int most, int* value) const {
    std::optional<int32_t> found;
    RETURN_IF_ERROR(Read(field, least, most, &found));
    if (found) *value = *found;
    return absl::OkStatus();
  }
  absl::Status Read(const std::string& field, int least, int most,
                    std::optional<int32_t>* value) const {
    const Json* json = Find(field);
    if (json == nullptr) return absl::OkStatus();
    if (!IsWhole(*json, least, most)) {
      return Wrong(field, absl::StrCat("a whole number from ", least, " to ", most));
    }
    *value = json->get<int32_t>();
    return absl::OkStatus();
  }
  absl::Status Read(const std::string& field, bool* value) const {
    const Json* json = Find(field);
    if (json == nullptr) return absl::OkStatus();
    if (!json->is_boolean()) return Wrong(field, "true or false");
    *value = json->get<bool>();
    return absl::OkStatus();
  }
  absl::Status Read(const std::string& field, float* value) const {
    const Json* json = Find(field);
    if (json == nullptr) return absl::OkStatus();
    if (!json->is_number() || !std::isfinite(json->get<float>())) {
      return Wrong(field, "a finite number");
    }
    *value = json->get<float>();
    return absl::OkStatus();
  }

  // A field that must be given.
  absl::Status Require(const std::string& field, int least, int most, int* value) const {
    if (Find(field) == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(files_.back().name, ": has no ", field,
                                                     ", want a whole number from ", least, " to ",
                                                     most));
    }
    return Read(field, least, most, value);
  }

  static bool IsWhole(const Json& json, int64_t least, int64_t most) {
    if (json.is_number_unsigned() && json.get<uint64_t>() > static_cast<uint64_t>(most)) {
      return false;
    }
    return json.is_number_integer() && json.get<int64_t>() >= least && json.get<int64_t>() <= most;
  }

 private:
  const File* FileOf(const std::string& field) const {
    for (const File& file : files_) {
      const auto it = file.json->find(field);
      if (it != file.json->end() && !it->is_null()) return &file;
    }
    return nullptr;
  }

  std::string Message(const std::string& field, const std::string& want) const {
    constexpr size_t kLongest = 80;
    const File* file = FileOf(field);
    std::string value = file->json->at(field).dump();
    if (value.size() > kLongest) value = value.substr(0, kLongest) + "...";
    return absl::StrCat(file->name, ": ", field, " is ", value, ", want ", want);
  }

  std::vector<File> files_;
};

absl::Status CheckArchitecture(const Fields& fields) {
  const Json* type = fields.Find("model_type");
  const Json* architectures = fields.Find("architectures");
  if (type == nullptr && architectures == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("config.json: has neither model_type nor architectures, want ", kModelType));
  }
  if (type != nullptr && *type != kModelType) return fields.Unknown("model_type", kModelType);
  if (architectures != nullptr && *architectures != Json::array({kArchitecture})) {
    return fields.Unknown("architectures", absl::StrCat("[\"", kArchitecture, "\"]"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Activation> ParseActivation(const Fields& fields) {
  static constexpr std::pair<const char*, Activation> kKnown[] = {{"swish", Activation::kSilu},
                                                                  {"silu", Activation::kSilu},
                                                                  {"relu", Activation::kRelu},
                                                                  {"gelu", Activation::kGelu}};
  const Json* name = fields.Find("activation_function");
  if (name == nullptr) return Activation::kGelu;
  for (const auto& [known, activation] : kKnown) {
    if (*name == known) return activation;
  }
  return fields.Unknown("activation_function", "swish, silu, relu or gelu");
}

absl::Status ReadShape(const Fields& fields, ModelConfig* model) {
  const struct {
    const char* field;
    int most;
    int* value;
  } required[] = {
      {"d_model", kMaxWidth, &model->d_model},
      {"encoder_layers", kMaxLayers, &model->encoder_layers},
      {"decoder_layers", kMaxLayers, &model->decoder_layers},
      {"encoder_attention_heads", kMaxWidth, &model->encoder_heads},
      {"decoder_attention_heads", kMaxWidth, &model->decoder_heads},
      {"encoder_ffn_dim", kMaxWidth, &model->encoder_ffn},
      {"decoder_ffn_dim", kMaxWidth, &model->decoder_ffn},
      {"vocab_size", kMaxVocabulary, &model->source_vocabulary},
  };
  for (const auto& [field, most, value] : required) {
    RETURN_IF_ERROR(fields.Require(field, 1, most, value));
  }
  if (model->d_model % 2 != 0) {
    return fields.Wrong("d_model", "an even number: positions are half sines, half cosines");
  }
  for (const auto& [field, heads] : {std::pair("encoder_attention_heads", model->encoder_heads),
                                     std::pair("decoder_attention_heads", model->decoder_heads)}) {
    if (model->d_model % heads != 0) {
      return fields.Wrong(field, absl::StrCat("a divisor of d_model, which is ", model->d_model));
    }
  }
  model->max_positions = 1024;
  const int most = std::min(kMaxLength, kMaxPositionTable / model->d_model);
  RETURN_IF_ERROR(fields.Read("max_position_embeddings", 1, most, &model->max_positions));
  RETURN_IF_ERROR(fields.Read("scale_embedding", &model->scale_embedding));
  ASSIGN_OR_RETURN(model->activation, ParseActivation(fields));
  return absl::OkStatus();
}

absl::Status ReadVocabularies(const Fields& fields, MarianConfig* config) {
  RETURN_IF_ERROR(fields.Read("share_encoder_decoder_embeddings", &config->share_embeddings));
  bool tied = true;
  RETURN_IF_ERROR(fields.Read("tie_word_embeddings", &tied));
  if (!tied) return fields.Unknown("tie_word_embeddings", "true: the output is the embedding's");
  // Hugging Face ignores decoder_vocab_size where the embeddings are shared.
  ModelConfig& model = config->model;
  model.target_vocabulary = model.source_vocabulary;
  if (config->share_embeddings) return absl::OkStatus();
  return fields.Read("decoder_vocab_size", 1, kMaxVocabulary, &model.target_vocabulary);
}

// eos_token_id may be a list of one.
absl::Status ReadEos(const Fields& fields, ModelConfig* model) {
  const int last = std::min(model->source_vocabulary, model->target_vocabulary) - 1;
  const Json* eos = fields.Find("eos_token_id");
  if (eos == nullptr || !eos->is_array()) {
    return fields.Require("eos_token_id", 0, last, &model->eos_id);
  }
  if (eos->size() > 1) return fields.Unknown("eos_token_id", "one token");
  if (eos->empty() || !Fields::IsWhole((*eos)[0], 0, last)) {
    return fields.Wrong("eos_token_id", absl::StrCat("a token from 0 to ", last));
  }
  model->eos_id = (*eos)[0].get<int32_t>();
  return absl::OkStatus();
}

absl::Status ReadSpecialTokens(const Fields& fields, ModelConfig* model) {
  RETURN_IF_ERROR(ReadEos(fields, model));
  const int last = model->target_vocabulary - 1;
  RETURN_IF_ERROR(fields.Require("pad_token_id", 0, last, &model->pad_id));
  model->decoder_start_id = model->pad_id;
  return fields.Read("decoder_start_token_id", 0, last, &model->decoder_start_id);
}

// Asking for one of these in a model's own configuration would change its answers.  `neutral` is
// the number that asks for nothing; so do false, null and an empty list.
absl::Status RefuseUnknownOptions(const Fields& fields) {
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

absl::Status ReadEarlyStopping(const Fields& fields, EarlyStopping* early_stopping) {
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

absl::Status ReadBadWords(const Fields& fields, const ModelConfig& model,
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
      if (!Fields::IsWhole(id, 0, model.target_vocabulary - 1)) return wrong;
      ids.push_back(id.get<int32_t>());
    }
    // A search that could never end: Hugging Face drops it too.
    if (ids != std::vector<int32_t>{model.eos_id}) bad_words->push_back(std::move(ids));
  }
  return absl::OkStatus();
}

// Hugging Face counts max_length and min_length with the decoder start, the *_new_tokens without;
// where both are given, the latter decide.
absl::Status ReadLengths(const Fields& fields, GenerationConfig* generation) {
  RETURN_IF_ERROR(fields.Read("max_length", 1, kMaxLength, &generation->max_length));
  RETURN_IF_ERROR(fields.Read("min_length", 0, kMaxLength, &generation->min_length));
  int max_new = 0;
  int min_new = 0;
  RETURN_IF_ERROR(fields.Read("max_new_tokens", 1, kMaxLength, &max_new));
  RETURN_IF_ERROR(fields.Read("min_new_tokens", 0, kMaxLength, &min_new));
  if (max_new > 0) generation->max_length = max_new + 1;
  if (min_new > 0) generation->min_length = min_new + 1;
  return absl::OkStatus();
}

absl::Status ReadGeneration(const Fields& fields, const ModelConfig& model,
                            GenerationConfig* generation) {
  RETURN_IF_ERROR(RefuseUnknownOptions(fields));
  RETURN_IF_ERROR(ReadLengths(fields, generation));
  RETURN_IF_ERROR(fields.Read("num_beams", 1, kMaxBeams, &generation->num_beams));
  RETURN_IF_ERROR(fields.Read("length_penalty", &generation->length_penalty));
  RETURN_IF_ERROR(ReadEarlyStopping(fields, &generation->early_stopping));
  RETURN_IF_ERROR(
      fields.Read("no_repeat_ngram_size", 0, kMaxLength, &generation->no_repeat_ngram_size));
  RETURN_IF_ERROR(fields.Read("repetition_penalty", &generation->repetition_penalty));
  if (generation->repetition_penalty <= 0.0f) {
    return fields.Wrong("repetition_penalty", "a number above 0");
  }
  RETURN_IF_ERROR(fields.Read("renormalize_logits", &generation->renormalize_logits));
  const int last = model.target_vocabulary - 1;
  RETURN_IF_ERROR(fields.Read("forced_bos_token_id", 0, last, &generation->forced_bos_id));
  RETURN_IF_ERROR(fields.Read("forced_eos_token_id", 0, last, &generation->forced_eos_id));
  return ReadBadWords(fields, model, &generation->bad_words_ids);
}

absl::StatusOr<MarianConfig> Parse(const Json& config_json, const Json& generation_json) {
  const Fields config({{"config.json", &config_json}});
  const Fields search(
      {{"generation_config.json", &generation_json}, {"config.json", &config_json}});
  MarianConfig result;
  result.model.architecture = kArchitecture;
  RETURN_IF_ERROR(CheckArchitecture(config));
  RETURN_IF_ERROR(ReadShape(config, &result.model));
  RETURN_IF_ERROR(ReadVocabularies(config, &result));
  RETURN_IF_ERROR(ReadSpecialTokens(search, &result.model));
  RETURN_IF_ERROR(ReadGeneration(search, result.model, &result.generation));
  return result;
}

}  // namespace

absl::StatusOr<MarianConfig> ReadMarianConfig(const std::string& directory) {
  ASSIGN_OR_RETURN(const Json config, ReadJsonObject(directory + "/config.json"));
  absl::StatusOr<Json> generation = ReadJsonObject(directory + "/generation_config.json");
  if (absl::IsNotFound(generation.status())) generation = Json::object();
  if (!generation.ok()) return generation.status();
  absl::StatusOr<MarianConfig> result = Parse(config, *generation);
  if (result.ok()) return result;
  return absl::Status(result.status().code(),
                      absl::StrCat(directory, "/", result.status().message()));
}

}  // namespace dragoman
