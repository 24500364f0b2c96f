// From CTranslate2's variables to ModelSpec.

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "engine/families/ctranslate2.h"
#include "engine/families/ctranslate2_facts.h"
#include "engine/families/hugging_face.h"

namespace dragoman {
namespace {

constexpr int kPositions = 1024;  // where the model itself sets no limit

constexpr uint32_t kNewestRevision = 7;

// The specifications of models that translate, and the heads of one that does not say.
constexpr std::pair<const char*, int> kSpecifications[] = {
    {"TransformerSpec", 8}, {"TransformerBase", 8}, {"TransformerBig", 16}, {"", 8}};

// Facts of what this engine does not have, and the number that says that a model does without.
constexpr std::pair<const char*, double> kAbsent[] = {{"encoder/multi_query_attention", 0},
                                                      {"decoder/alibi", 0}};

// Facts that change nothing in a model without these features.
constexpr const char* kIdle[] = {"encoder/embeddings_merge", "decoder/alibi_use_positive_positions",
                                 "decoder/scale_alibi"};

absl::StatusOr<int> HeadsOf(const CTranslate2File& file) {
  if (file.revision > kNewestRevision) {
    return UnimplementedError("the revision of ", file.specification, " is ", file.revision,
                              ", want at most ", kNewestRevision, " in ", file.variables.name());
  }
  for (const auto& [name, heads] : kSpecifications) {
    if (file.specification == name) return heads;
  }
  return UnimplementedError("the specification is ", file.specification, ", want ",
                            kSpecifications[0].first, ": a model that translates, in ",
                            file.variables.name());
}

absl::StatusOr<Activation> ActivationOf(double number) {
  constexpr Activation kKnown[] = {Activation::kRelu, Activation::kGeluTanh, Activation::kSilu,
                                   Activation::kGelu, Activation::kGeluSigmoid};
  for (int i = 0; i < static_cast<int>(std::size(kKnown)); ++i) {
    if (number == i) return kKnown[i];
  }
  return UnimplementedError("activation is ", number, ", want 0 to 4");
}

// The prefixes of all layers with attention of one kind.
std::vector<std::string> Attention(const ModelSpec& spec, const char* kind) {
  std::vector<std::string> all;
  for (const auto& [stack, layers] :
       {std::pair("encoder", spec.encoder_layers), std::pair("decoder", spec.decoder_layers)}) {
    for (int l = 0; l < layers; ++l) {
      all.push_back(absl::StrCat(CTranslate2Layer(stack, l), "/", kind, "/"));
    }
  }
  return all;
}

absl::Status ReadShape(const CTranslate2Model& model, const CTranslate2Facts& facts,
                       ModelSpec* spec) {
  ASSIGN_OR_RETURN(const auto source, facts.Shape(facts.Embeddings("encoder")));
  ASSIGN_OR_RETURN(const auto target, facts.Shape(facts.Embeddings("decoder")));
  spec->source_vocabulary = source.first;
  spec->target_vocabulary = target.first;
  spec->d_model = source.second;
  if (spec->d_model % 2 != 0 || spec->d_model > kMaxWidth || source.first > kMaxVocabulary ||
      target.first > kMaxVocabulary) {
    return InvalidArgumentError("the embeddings are ", source.first, " x ", source.second, " and ",
                                target.first, " x ", target.second, ", want an even width up to ",
                                kMaxWidth);
  }
  spec->encoder_layers = facts.Layers("encoder");
  spec->decoder_layers = facts.Layers("decoder");
  if (spec->encoder_layers < 1 || spec->decoder_layers < 1) {
    return UnimplementedError("there are ", spec->encoder_layers, " and ", spec->decoder_layers,
                              " layers, want an encoder and a decoder in ",
                              model.file.variables.name());
  }
  ASSIGN_OR_RETURN(const int heads, HeadsOf(model.file));
  ASSIGN_OR_RETURN(spec->encoder_heads, facts.Whole("encoder/num_heads", heads, 1, kMaxWidth));
  ASSIGN_OR_RETURN(spec->decoder_heads, facts.Whole("decoder/num_heads", heads, 1, kMaxWidth));
  ASSIGN_OR_RETURN(const auto qkv, facts.Shape("encoder/layer_0/self_attention/linear_0/weight"));
  spec->head_width = qkv.first / 3 / spec->encoder_heads;
  if (spec->head_width < 1 || qkv.first != 3 * spec->head_width * spec->encoder_heads) {
    return UnimplementedError("encoder/layer_0/self_attention/linear_0/weight has ", qkv.first,
                              " rows, want 3 times ", spec->encoder_heads, " heads");
  }
  if (spec->head_width * spec->encoder_heads == spec->d_model) spec->head_width = 0;
  ASSIGN_OR_RETURN(const auto encoder_ffn, facts.Shape("encoder/layer_0/ffn/linear_0/weight"));
  ASSIGN_OR_RETURN(const auto decoder_ffn, facts.Shape("decoder/layer_0/ffn/linear_0/weight"));
  spec->encoder_ffn = encoder_ffn.first;
  spec->decoder_ffn = decoder_ffn.first;
  if (std::max(encoder_ffn.first, decoder_ffn.first) > kMaxWidth) {
    return InvalidArgumentError("a feed-forward layer is wider than ", kMaxWidth);
  }
  return absl::OkStatus();
}

absl::Status ReadPositions(const CTranslate2Facts& facts, ModelSpec* spec) {
  const std::string relative = "encoder/layer_0/self_attention/relative_attention_bias";
  const std::string stored = "/position_encodings/encodings";
  spec->max_positions = kPositions;
  if (facts.Has(relative)) {
    ASSIGN_OR_RETURN(const auto shape, facts.Shape(relative));
    std::vector<std::string> distances = Attention(*spec, "self_attention");
    for (std::string& name : distances) name += "relative_attention_max_distance";
    RETURN_IF_ERROR(facts.Common(distances, 128).status());
    ASSIGN_OR_RETURN(const int distance, facts.Whole(distances.front(), 128, 1, kMaxLength));
    spec->positions = {
        .kind = Positions::kRelative, .buckets = shape.first, .max_distance = distance};
  } else if (facts.Has("encoder" + stored)) {
    ASSIGN_OR_RETURN(const auto encoder, facts.Shape("encoder" + stored));
    ASSIGN_OR_RETURN(const auto decoder, facts.Shape("decoder" + stored));
    spec->positions = {.kind = Positions::kTable};
    spec->max_positions =
        std::min({encoder.first, decoder.first, kMaxPositionTable / spec->d_model});
  } else {
    spec->positions = {.kind = Positions::kSinusoids, .first = 1, .to_the_end = true};
  }
  return absl::OkStatus();
}

// The factor, or a flag that stands for sqrt(d_model).
absl::StatusOr<float> EmbeddingScale(const Checkpoint& variables, const CTranslate2Facts& facts,
                                     const char* stack, int d_model) {
  std::string name = absl::StrCat(stack, "/scale_embeddings");
  if (!facts.Has(name)) name = absl::StrCat(stack, "/embeddings/multiply_by_sqrt_depth");
  ASSIGN_OR_RETURN(const double number, facts.Number(name, 1));
  const Tensor* const tensor = variables.Find(name);
  if (tensor != nullptr && tensor->dtype != DType::kI8) return static_cast<float>(number);
  return number != 0 ? std::sqrt(static_cast<float>(d_model)) : 1.0f;
}

absl::Status CheckIs(const CTranslate2Facts& facts, const std::string& name, double wanted) {
  ASSIGN_OR_RETURN(const double number, facts.Number(name, wanted));
  if (number == wanted) return absl::OkStatus();
  return UnimplementedError(name, " is ", number, ", want ", wanted);
}

// Whether queries are scaled, by one factor in all layers, and nothing else is unusual in them.
absl::Status ReadAttention(const CTranslate2Facts& facts, ModelSpec* spec) {
  std::vector<std::string> layers = Attention(*spec, "self_attention");
  for (std::string& layer : Attention(*spec, "attention")) {
    if (absl::StartsWith(layer, "decoder")) layers.push_back(std::move(layer));
  }
  for (const std::string& layer : layers) {
    const bool encoder = absl::StartsWith(layer, "encoder");
    const int width = encoder ? spec->encoder_head_width() : spec->decoder_head_width();
    RETURN_IF_ERROR(CheckIs(facts, layer + "head_dim", width));
    RETURN_IF_ERROR(CheckIs(facts, layer + "multi_query", 0));
    const double usual = 1.0f / std::sqrt(static_cast<float>(width));
    ASSIGN_OR_RETURN(const double scale, facts.Number(layer + "queries_scale", usual));
    const bool scaled = scale != 1.0;
    if (&layer == &layers.front()) spec->scaled_queries = scaled;
    if (spec->scaled_queries != scaled || (scaled && std::abs(scale - usual) > 1e-6)) {
      return UnimplementedError(layer, "queries_scale is ", scale, ", want ", usual,
                                ", or 1 in all layers");
    }
  }
  return absl::OkStatus();
}

absl::Status ReadHabits(const CTranslate2Model& model, const CTranslate2Facts& facts,
                        ModelSpec* spec) {
  for (const auto& [name, off] : kAbsent) RETURN_IF_ERROR(CheckIs(facts, name, off));
  for (const char* name : kIdle) RETURN_IF_ERROR(facts.Number(name, 0).status());
  ASSIGN_OR_RETURN(const double pre_norm,
                   facts.Common({"encoder/pre_norm", "decoder/pre_norm"}, 1));
  ASSIGN_OR_RETURN(const double activation,
                   facts.Common({"encoder/activation", "decoder/activation"}, 0));
  ASSIGN_OR_RETURN(spec->activation, ActivationOf(activation));
  spec->pre_norm = pre_norm != 0;
  spec->final_norm = facts.Has("encoder/layer_norm/gamma");
  spec->embedding_norm = facts.Has("encoder/layernorm_embedding/gamma");
  spec->gated = facts.Has("encoder/layer_0/ffn/linear_0_noact/weight");
  const bool root_mean_square = !facts.Has("encoder/layer_0/ffn/layer_norm/beta");
  spec->norm = root_mean_square ? Norm::kRootMeanSquare : Norm::kLayer;
  spec->norm_epsilon = root_mean_square ? 1e-6f : 1e-5f;
  const JsonFields config({{model.path + "/config.json", &model.config}});
  RETURN_IF_ERROR(config.Read("layer_norm_epsilon", &spec->norm_epsilon));
  spec->biases = facts.Has("encoder/layer_0/ffn/linear_0/bias");
  RETURN_IF_ERROR(ReadAttention(facts, spec));
  const auto scale = [&](const char* stack) {
    return EmbeddingScale(model.file.variables, facts, stack, spec->d_model);
  };
  ASSIGN_OR_RETURN(spec->embedding_scale, scale("encoder"));
  ASSIGN_OR_RETURN(const float target_scale, scale("decoder"));
  if (target_scale != spec->embedding_scale) {
    return UnimplementedError("the encoder scales embeddings by ", spec->embedding_scale,
                              ", the decoder by ", target_scale, ", want the same factor");
  }
  ASSIGN_OR_RETURN(const double zero_start, facts.Number("decoder/start_from_zero_embedding", 0));
  spec->zero_start = zero_start != 0;
  const std::string target = facts.Embeddings("decoder");
  spec->share_embeddings = facts.Same(facts.Embeddings("encoder"), target);
  spec->tied_output = facts.Same("decoder/projection/weight", target);
  ASSIGN_OR_RETURN(const double logit_scale, facts.Number("decoder/scale_outputs", 1));
  spec->logit_scale = static_cast<float>(logit_scale);
  return absl::OkStatus();
}

// Reads how many heads of a layer to use, counted from the first; 0 means all, no number one.
absl::Status ReadAlignmentHeads(const CTranslate2Facts& facts, ModelSpec* spec) {
  const int layers = spec->decoder_layers;
  ASSIGN_OR_RETURN(spec->alignment.layer,
                   facts.Whole("decoder/alignment_layer", -1, -layers, layers - 1));
  ASSIGN_OR_RETURN(const int heads,
                   facts.Whole("decoder/alignment_heads", 1, 0, spec->decoder_heads));
  for (int head = 0; head < heads; ++head) spec->alignment.heads.push_back(head);
  return absl::OkStatus();
}

absl::Status ReadTokens(const CTranslate2Model& model, ModelSpec* spec) {
  const auto id = [&model](const std::string& token) { return model.target->IdOf(token); };
  const std::optional<int32_t> eos = id(model.tokens.eos);
  if (!eos.has_value()) {
    return InvalidArgumentError("the target vocabulary has no ", model.tokens.eos);
  }
  spec->eos_id = *eos;
  const std::string& start = model.tokens.start.empty() ? model.tokens.eos : model.tokens.start;
  spec->decoder_start_id = IdOrUnknown(*model.target, start, model.tokens);
  if (spec->source_vocabulary < model.source->size() ||
      spec->target_vocabulary < model.target->size()) {
    return InvalidArgumentError("the vocabularies have ", model.source->size(), " and ",
                                model.target->size(), " tokens, but the embeddings ",
                                spec->source_vocabulary, " and ", spec->target_vocabulary);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ModelSpec> ReadCTranslate2Spec(const CTranslate2Model& model) {
  const CTranslate2Facts facts(model.file.variables);
  ModelSpec spec;
  spec.architecture = model.file.specification;
  RETURN_IF_ERROR(ReadShape(model, facts, &spec));
  RETURN_IF_ERROR(ReadPositions(facts, &spec));
  RETURN_IF_ERROR(ReadHabits(model, facts, &spec));
  RETURN_IF_ERROR(ReadAlignmentHeads(facts, &spec));
  RETURN_IF_ERROR(ReadTokens(model, &spec));
  return spec;
}

GenerationConfig CTranslate2Search() {
  GenerationConfig search;
  search.options.beam_size = 2;
  search.options.min_length = 1;
  search.options.early_stopping = EarlyStopping::kFull;
  return search;
}

}  // namespace dragoman
