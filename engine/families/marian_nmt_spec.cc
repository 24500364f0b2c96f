// The options of a Marian model as a ModelSpec.  A missing option has Marian's default.

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/base/status.h"
#include "engine/families/hugging_face.h"
#include "engine/families/marian_nmt.h"

namespace dragoman {
namespace {

// Options that change what a network computes in ways that this engine does not support, and the
// only value that each may have.
absl::Status CheckUnknown(const JsonFields& fields) {
  for (const char* option : {"transformer-pool", "transformer-no-bias", "transformer-no-affine",
                             "ulr", "transformer-alibi-shift", "transformer-alibi-trainable"}) {
    bool set = false;
    RETURN_IF_ERROR(fields.Read(option, &set));
    if (set) return fields.Unknown(option, "false");
  }
  int lemma = 0;
  RETURN_IF_ERROR(fields.Read("lemma-dim-emb", -1, kMaxWidth, &lemma));
  if (lemma != 0) return fields.Unknown("lemma-dim-emb", "0: this engine does not support factors");
  std::string mask = "default";
  RETURN_IF_ERROR(fields.Read("transformer-attention-mask", &mask));
  if (mask != "default") return fields.Unknown("transformer-attention-mask", "default");
  if (const nlohmann::json* types = fields.Find("input-types"); types != nullptr) {
    if (!types->is_array()) return fields.Wrong("input-types", "a list");
    for (const nlohmann::json& type : *types) {
      if (type != "sequence") return fields.Unknown("input-types", "sequence alone");
    }
  }
  return absl::OkStatus();
}

// Reads a process string, such as transformer-postprocess "dan", without its d (dropout).
absl::Status ReadSteps(const JsonFields& fields, const char* option, const char* known,
                       std::string* steps) {
  RETURN_IF_ERROR(fields.Read(option, steps));
  std::string kept;
  for (const char step : *steps) {
    if (!absl::StrContains(known, step)) {
      return fields.Unknown(option, absl::StrCat("steps of \"", known, "\""));
    }
    if (step != 'd') kept.push_back(step);
  }
  *steps = std::move(kept);
  return absl::OkStatus();
}

absl::Status ReadProcessing(const JsonFields& fields, ModelSpec* spec) {
  std::string before, after = "dan", embedded = "d", top;
  RETURN_IF_ERROR(ReadSteps(fields, "transformer-preprocess", "dnr", &before));
  RETURN_IF_ERROR(ReadSteps(fields, "transformer-postprocess", "danrh", &after));
  RETURN_IF_ERROR(ReadSteps(fields, "transformer-postprocess-emb", "dnr", &embedded));
  RETURN_IF_ERROR(ReadSteps(fields, "transformer-postprocess-top", "dnr", &top));
  const std::string all = before + after + embedded + top;
  if (absl::StrContains(all, 'r')) {
    if (absl::StrContains(all, 'n')) {
      return fields.Unknown("transformer-postprocess", "layer norms or root mean square norms");
    }
    spec->norm = Norm::kRootMeanSquare;
    for (std::string* steps : {&before, &after, &embedded, &top}) {
      absl::c_replace(*steps, 'r', 'n');
    }
  }
  for (const auto& [option, steps] : {std::pair("transformer-preprocess", &before),
                                      {"transformer-postprocess-emb", &embedded},
                                      {"transformer-postprocess-top", &top}}) {
    if (steps->size() > 1) return fields.Unknown(option, "one norm");
  }
  spec->processing = Processing{before, after};
  spec->embedding_norm = !embedded.empty();
  spec->final_norm = !top.empty();
  spec->norm_epsilon = 1e-6f;
  return absl::OkStatus();
}

// Reads which head was trained on alignments, if any: the first one of the last layer, unless
// another layer is named.
absl::Status ReadAlignmentHeads(const JsonFields& fields, ModelSpec* spec) {
  spec->alignment.heads = {0};
  const nlohmann::json* layer = fields.Find("transformer-guided-alignment-layer");
  if (layer == nullptr || *layer == "last") return absl::OkStatus();
  int number = 0;
  RETURN_IF_ERROR(
      fields.Read("transformer-guided-alignment-layer", 1, spec->decoder_layers, &number));
  spec->alignment.layer = number - 1;
  return absl::OkStatus();
}

// Versions before 1.10, with which Bergamot and Firefox train, approximate GELU.
bool HasOldGelu(const std::string& version) {
  const std::vector<std::string> parts = absl::StrSplit(version, '.');
  int major = 0, minor = 0;
  return parts.size() >= 2 && absl::StartsWith(parts[0], "v") &&
         absl::SimpleAtoi(parts[0].substr(1), &major) && absl::SimpleAtoi(parts[1], &minor) &&
         major == 1 && minor < 10;
}

absl::StatusOr<Activation> ReadActivation(const JsonFields& fields, const char* option) {
  std::string name = "swish", version;
  RETURN_IF_ERROR(fields.Read(option, &name));
  RETURN_IF_ERROR(fields.Read("version", &version));
  if (name == "relu") return Activation::kRelu;
  if (name == "swish") return Activation::kSilu;
  if (name == "gelu") return HasOldGelu(version) ? Activation::kGeluSigmoid : Activation::kGelu;
  return fields.Unknown(option, "relu, swish or gelu");
}

absl::Status ReadShape(const JsonFields& fields, ModelSpec* spec) {
  spec->d_model = 512;
  spec->encoder_layers = spec->decoder_layers = 1;
  int heads = 8;
  spec->encoder_ffn = 2048;
  RETURN_IF_ERROR(fields.Read("dim-emb", 2, kMaxWidth, &spec->d_model));
  RETURN_IF_ERROR(fields.Read("enc-depth", 1, kMaxLayers, &spec->encoder_layers));
  RETURN_IF_ERROR(fields.Read("dec-depth", 1, kMaxLayers, &spec->decoder_layers));
  RETURN_IF_ERROR(fields.Read("transformer-heads", 1, kMaxWidth, &heads));
  RETURN_IF_ERROR(fields.Read("transformer-dim-ffn", 1, kMaxWidth, &spec->encoder_ffn));
  RETURN_IF_ERROR(fields.Read("transformer-ffn-depth", 1, 64, &spec->encoder_ffn_layers));
  if (spec->d_model % heads != 0) {
    return fields.Wrong("transformer-heads", absl::StrCat("a divisor of dim-emb, ", spec->d_model));
  }
  if (spec->d_model % 2 != 0) return fields.Wrong("dim-emb", "an even number");
  spec->encoder_heads = spec->decoder_heads = heads;
  // 0 means the same as in the encoder.
  int inner = 0, layers = 0;
  RETURN_IF_ERROR(fields.Read("transformer-decoder-dim-ffn", 0, kMaxWidth, &inner));
  RETURN_IF_ERROR(fields.Read("transformer-decoder-ffn-depth", 0, 64, &layers));
  spec->decoder_ffn = inner > 0 ? inner : spec->encoder_ffn;
  spec->decoder_ffn_layers = layers > 0 ? layers : spec->encoder_ffn_layers;
  bool no_projection = false;
  RETURN_IF_ERROR(fields.Read("transformer-no-projection", &no_projection));
  spec->attention_output = !no_projection;
  return absl::OkStatus();
}

absl::Status ReadHistory(const JsonFields& fields, ModelSpec* spec) {
  std::string decoder = "self-attention";
  RETURN_IF_ERROR(fields.Read("transformer-decoder-autoreg", &decoder));
  if (decoder == "self-attention") return absl::OkStatus();
  if (decoder == "average-attention") {
    spec->history = "average_attention";
    ASSIGN_OR_RETURN(spec->history_activation,
                     ReadActivation(fields, "transformer-aan-activation"));
    return absl::OkStatus();
  }
  if (decoder != "rnn") {
    return fields.Unknown("transformer-decoder-autoreg",
                          "self-attention, average-attention or rnn");
  }
  std::string cell = "gru";
  RETURN_IF_ERROR(fields.Read("dec-cell", &cell));
  if (cell != "ssru" && cell != "sru") {
    return fields.Unknown("dec-cell", "ssru or sru in a Transformer");
  }
  spec->history = "ssru";
  return absl::OkStatus();
}

absl::Status ReadPositions(const MarianModel& model, ModelSpec* spec) {
  bool none = false;
  RETURN_IF_ERROR(model.fields().Read("transformer-disable-position-embeddings", &none));
  spec->positions = {.kind = none ? Positions::kNone : Positions::kSinusoids, .to_the_end = true};
  spec->max_positions = kMarianPositions;
  spec->embedding_scale = none ? 1.0f : std::sqrt(static_cast<float>(spec->d_model));
  if (const Tensor* table = model.tensors.Find("Wpos"); table != nullptr && !none) {
    spec->positions = {.kind = Positions::kTable};
    spec->max_positions = static_cast<int>(table->shape[0]);
    spec->embedding_scale = 1.0f;
  }
  return absl::OkStatus();
}

absl::StatusOr<int> TokensOf(const MarianModel& model, const std::string& table) {
  const Tensor* tensor = model.tensors.Find(table);
  if (tensor == nullptr) {
    return NotFoundError("there is no tensor ", table, " in ", model.tensors.name());
  }
  return static_cast<int>(std::min<int64_t>(tensor->shape[0], kMaxVocabulary));
}

absl::StatusOr<ModelSpec> ReadTransformer(const MarianModel& model) {
  const JsonFields fields = model.fields();
  ModelSpec spec;
  RETURN_IF_ERROR(ReadShape(fields, &spec));
  RETURN_IF_ERROR(ReadProcessing(fields, &spec));
  RETURN_IF_ERROR(ReadPositions(model, &spec));
  ASSIGN_OR_RETURN(spec.activation, ReadActivation(fields, "transformer-ffn-activation"));
  RETURN_IF_ERROR(ReadHistory(fields, &spec));
  RETURN_IF_ERROR(ReadAlignmentHeads(fields, &spec));
  spec.zero_start = true;
  return spec;
}

}  // namespace

absl::StatusOr<MarianTables> ReadMarianTables(const MarianModel& model) {
  const JsonFields fields = model.fields();
  bool all = false, source = false, target = false, omit_bias = false;
  RETURN_IF_ERROR(fields.Read("tied-embeddings-all", &all));
  RETURN_IF_ERROR(fields.Read("tied-embeddings-src", &source));
  RETURN_IF_ERROR(fields.Read("tied-embeddings", &target));
  RETURN_IF_ERROR(fields.Read("output-omit-bias", &omit_bias));
  MarianTables tables;
  tables.source = all || source ? "Wemb" : "encoder_Wemb";
  tables.target = all || source ? "Wemb" : "decoder_Wemb";
  std::string type = "amun";
  RETURN_IF_ERROR(fields.Read("type", &type));
  const std::string output = type == "transformer" ? "decoder_ff_logit_out" : "decoder_ff_logit_l2";
  if (all || target) {
    tables.output = tables.target;
  } else {
    tables.output = model.tensors.Has(output + "_W") ? output + "_W" : output + "_Wt";
  }
  if (!omit_bias) tables.output_bias = output + "_b";
  return tables;
}

absl::StatusOr<std::vector<int>> ReadTiedLayers(const MarianModel& model, int layers) {
  const JsonFields fields = model.fields();
  std::vector<int> tied;
  if (const nlohmann::json* json = fields.Find("transformer-tied-layers");
      json != nullptr && !(json->is_array() && json->empty())) {
    const bool list = json->is_array() && static_cast<int>(json->size()) == layers;
    for (int l = 0; list && l < layers; ++l) {
      if (JsonFields::IsWhole((*json)[l], 1, layers)) tied.push_back((*json)[l].get<int>());
    }
    if (static_cast<int>(tied.size()) != layers) {
      return fields.Wrong("transformer-tied-layers",
                          absl::StrCat("a layer from 1 to ", layers, " for each of them"));
    }
    return tied;
  }
  for (int l = 1; l <= layers; ++l) tied.push_back(l);
  return tied;
}

absl::StatusOr<ModelSpec> ReadMarianSpec(const MarianModel& model) {
  const JsonFields fields = model.fields();
  std::string type = "amun";
  RETURN_IF_ERROR(fields.Read("type", &type));
  const bool transformer = type == "transformer";
  if (!transformer && type != "s2s" && type != "amun" && type != "nematus") {
    return fields.Unknown("type", "transformer, s2s, amun or nematus");
  }
  RETURN_IF_ERROR(CheckUnknown(fields));
  ASSIGN_OR_RETURN(ModelSpec spec,
                   transformer ? ReadTransformer(model) : ReadMarianRecurrent(model));
  spec.architecture = absl::StrCat("Marian NMT ", type);
  ASSIGN_OR_RETURN(const MarianTables tables, ReadMarianTables(model));
  ASSIGN_OR_RETURN(spec.source_vocabulary, TokensOf(model, tables.source));
  ASSIGN_OR_RETURN(spec.target_vocabulary, TokensOf(model, tables.target));
  spec.share_embeddings = tables.source == tables.target;
  spec.tied_output = tables.output == tables.target;
  return spec;
}

}  // namespace dragoman
