// From CTranslate2's variables to ModelSpec.

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "engine/families/ctranslate2.h"
#include "engine/families/ctranslate2_facts.h"
#include "engine/families/hugging_face.h"

namespace dragoman {
namespace {

constexpr int kPositions = 1024;  // where the model itself sets no limit
constexpr int kHeads = 8;         // for files that do not give the number

absl::StatusOr<Activation> ActivationOf(int number) {
  constexpr Activation kKnown[] = {Activation::kRelu, Activation::kGeluTanh, Activation::kSilu,
                                   Activation::kGelu, Activation::kGeluSigmoid};
  if (number < static_cast<int>(std::size(kKnown))) return kKnown[number];
  return absl::UnimplementedError(absl::StrCat("activation is ", number, ", want 0 to 4"));
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
    return absl::InvalidArgumentError(
        absl::StrCat("the embeddings are ", source.first, " x ", source.second, " and ",
                     target.first, " x ", target.second, ", want an even width up to ", kMaxWidth));
  }
  spec->encoder_layers = facts.Layers("encoder");
  spec->decoder_layers = facts.Layers("decoder");
  if (spec->encoder_layers < 1 || spec->decoder_layers < 1) {
    return absl::UnimplementedError(
        absl::StrCat("the specification is ", model.file.specification,
                     ", want an encoder and a decoder: a model that translates"));
  }
  const int heads = model.file.specification == "TransformerBig" ? 2 * kHeads : kHeads;
  for (const auto& [stack, value] :
       {std::pair("encoder", &spec->encoder_heads), std::pair("decoder", &spec->decoder_heads)}) {
    ASSIGN_OR_RETURN(const int common, facts.Whole("num_heads", heads, 1, kMaxWidth));
    ASSIGN_OR_RETURN(*value, facts.Whole(absl::StrCat(stack, "/num_heads"), common, 1, kMaxWidth));
  }
  ASSIGN_OR_RETURN(const auto qkv, facts.Shape("encoder/layer_0/self_attention/linear_0/weight"));
  spec->head_width = qkv.first / 3 / spec->encoder_heads;
  if (spec->head_width < 1 || qkv.first != 3 * spec->head_width * spec->encoder_heads) {
    return absl::UnimplementedError(
        absl::StrCat("encoder/layer_0/self_attention/linear_0/weight has ", qkv.first,
                     " rows, want 3 times ", spec->encoder_heads, " heads"));
  }
  if (spec->head_width * spec->encoder_heads == spec->d_model) spec->head_width = 0;
  ASSIGN_OR_RETURN(const auto encoder_ffn, facts.Shape("encoder/layer_0/ffn/linear_0/weight"));
  ASSIGN_OR_RETURN(const auto decoder_ffn, facts.Shape("decoder/layer_0/ffn/linear_0/weight"));
  spec->encoder_ffn = encoder_ffn.first;
  spec->decoder_ffn = decoder_ffn.first;
  if (std::max(encoder_ffn.first, decoder_ffn.first) > kMaxWidth) {
    return absl::InvalidArgumentError(
        absl::StrCat("a feed-forward layer is wider than ", kMaxWidth));
  }
  return absl::OkStatus();
}

absl::Status ReadPositions(const CTranslate2Facts& facts, ModelSpec* spec) {
  const std::string relative = "encoder/layer_0/self_attention/relative_attention_bias";
  const std::string stored = "/position_encodings/encodings";
  spec->max_positions = kPositions;
  if (facts.Has(relative)) {
    ASSIGN_OR_RETURN(const auto shape, facts.Shape(relative));
    ASSIGN_OR_RETURN(const int distance,
                     facts.Whole("encoder/layer_0/self_attention/relative_attention_max_distance",
                                 128, 1, kMaxLength));
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

// Both stacks must agree, because a spec has one value for both.
template <typename T>
absl::StatusOr<T> Agree(const char* what, const absl::StatusOr<T>& encoder,
                        const absl::StatusOr<T>& decoder) {
  if (!encoder.ok()) return encoder;
  if (!decoder.ok()) return decoder;
  if (*encoder == *decoder) return encoder;
  return absl::UnimplementedError(absl::StrCat("encoder/", what, " and decoder/", what, " differ"));
}

absl::Status ReadHabits(const CTranslate2Model& model, const CTranslate2Facts& facts,
                        ModelSpec* spec) {
  const auto flag = [&facts](const char* stack, const char* name, int otherwise) {
    return facts.Whole(absl::StrCat(stack, "/", name), otherwise, 0, 127);
  };
  const auto agreed = [&flag](const char* name, int otherwise) {
    return Agree(name, flag("encoder", name, otherwise), flag("decoder", name, otherwise));
  };
  ASSIGN_OR_RETURN(const int pre_norm, agreed("pre_norm", 1));
  ASSIGN_OR_RETURN(const int activation, agreed("activation", 0));
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
  const float head_scale = 1.0f / std::sqrt(static_cast<float>(spec->encoder_head_width()));
  ASSIGN_OR_RETURN(const double queries,
                   facts.Number("encoder/layer_0/self_attention/queries_scale", head_scale));
  spec->scaled_queries = queries != 1.0;
  if (spec->scaled_queries && std::abs(queries - head_scale) > 1e-6) {
    return absl::UnimplementedError(
        absl::StrCat("queries_scale is ", queries, ", want 1 or ", head_scale));
  }
  const auto scale = [&](const char* stack) {
    return EmbeddingScale(model.file.variables, facts, stack, spec->d_model);
  };
  ASSIGN_OR_RETURN(spec->embedding_scale,
                   Agree("scale_embeddings", scale("encoder"), scale("decoder")));
  ASSIGN_OR_RETURN(const int zero_start, flag("decoder", "start_from_zero_embedding", 0));
  spec->zero_start = zero_start != 0;
  const std::string target = facts.Embeddings("decoder");
  spec->share_embeddings = facts.Same(facts.Embeddings("encoder"), target);
  spec->tied_output = facts.Same("decoder/projection/weight", target);
  ASSIGN_OR_RETURN(const double logit_scale, facts.Number("decoder/scale_outputs", 1));
  spec->logit_scale = static_cast<float>(logit_scale);
  return absl::OkStatus();
}

// Reads how many heads of a layer to use, counted from the first; 0 means all.
absl::Status ReadAlignmentHeads(const CTranslate2Facts& facts, ModelSpec* spec) {
  const int layers = spec->decoder_layers;
  ASSIGN_OR_RETURN(spec->alignment.layer,
                   facts.Whole("decoder/alignment_layer", -1, -layers, layers - 1));
  ASSIGN_OR_RETURN(const int heads,
                   facts.Whole("decoder/alignment_heads", 0, 0, spec->decoder_heads));
  for (int head = 0; head < heads; ++head) spec->alignment.heads.push_back(head);
  return absl::OkStatus();
}

absl::Status ReadTokens(const CTranslate2Model& model, ModelSpec* spec) {
  const auto id = [&model](const std::string& token) { return model.target->IdOf(token); };
  const std::optional<int32_t> eos = id(model.tokens.eos);
  if (!eos.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the target vocabulary has no ", model.tokens.eos));
  }
  spec->eos_id = *eos;
  const std::optional<int32_t> start =
      id(model.tokens.start.empty() ? model.tokens.eos : model.tokens.start);
  // Without an embedding for the start, any token will do.
  if (!start.has_value() && !spec->zero_start) {
    return absl::InvalidArgumentError(
        absl::StrCat("the target vocabulary has no ", model.tokens.start));
  }
  spec->decoder_start_id = start.value_or(*eos);
  if (spec->source_vocabulary < model.source->size() ||
      spec->target_vocabulary < model.target->size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the vocabularies have ", model.source->size(), " and ", model.target->size(),
        " tokens, but the embeddings ", spec->source_vocabulary, " and ", spec->target_vocabulary));
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
  search.num_beams = 2;
  search.min_length = 2;  // at least one token after the decoder's start
  search.early_stopping = EarlyStopping::kFull;
  return search;
}

}  // namespace dragoman
