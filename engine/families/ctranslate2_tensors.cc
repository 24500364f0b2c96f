// From CTranslate2's variables to canonical tensors.
//
//   encoder/layer_0/self_attention/linear_0/weight [3 d, d]  ->  q, k and v_proj, rows of it
//   decoder/layer_0/attention/linear_1/weight [2 d, d]       ->  k and v_proj of encoder_attn
//   encoder/layer_0/ffn/linear_0_noact/weight                ->  fc1_linear
//
// A part of a matrix is a view of its rows, so nothing is copied.  Every variable must be known: an
// unknown one would change what the network computes.

#include <array>
#include <map>
#include <set>
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

// Biases that a file omits although other layers have them.
constexpr size_t kMostZeros = 3 * kMaxWidth;
constexpr std::array<std::byte, kMostZeros * sizeof(float)> kZeros = {};

constexpr const char* kStacks[] = {"encoder", "decoder"};

// Facts that ReadCTranslate2Spec has read, or that do not affect a translation.
bool IsKnownFact(const std::string& name) {
  static const std::set<std::string> kKnown = {"num_heads",
                                               "pre_norm",
                                               "activation",
                                               "alignment_layer",
                                               "alignment_heads",
                                               "embeddings_merge",
                                               "scale_embeddings",
                                               "multiply_by_sqrt_depth",
                                               "scale_outputs",
                                               "start_from_zero_embedding",
                                               "queries_scale",
                                               "relative_attention_max_distance",
                                               "alibi_use_positive_positions",
                                               "unk_token",
                                               "bos_token",
                                               "eos_token",
                                               "with_source_bos",
                                               "with_source_eos",
                                               "with_target_bos",
                                               "user_decoder_start_tokens",
                                               "head_dim",
                                               "head_dimension"};
  return kKnown.contains(name.substr(name.rfind('/') + 1));
}

// Assembles canonical tensors and keeps track of the variables that are left over.
class Tensors {
 public:
  explicit Tensors(const CTranslate2Model& model, const ModelSpec& spec)
      : from_(model.file.variables), facts_(from_), spec_(spec) {}

  absl::StatusOr<Checkpoint> Take();

 private:
  absl::Status Copy(const std::string& from, const std::string& to);
  absl::Status Split(const std::string& from, const std::vector<std::string>& to);
  absl::Status Linear(const std::string& from, const std::vector<std::string>& to);
  absl::Status Normalization(const std::string& from, const std::string& to);
  absl::Status Attention(const std::string& from, const std::string& to, bool self);
  absl::Status Layer(const char* stack, int layer);
  absl::Status Stack(const char* stack, int layers);
  absl::Status PositionTable(const char* stack);
  absl::Status CheckNothingIsLeft() const;

  const Checkpoint& from_;
  const CTranslate2Facts facts_;
  const ModelSpec& spec_;
  std::map<std::string, Tensor> to_;
  std::set<std::string> used_;
};

absl::Status Tensors::Copy(const std::string& from, const std::string& to) {
  return Split(from, {to});
}

// Gives each name an equal share of the rows.
absl::Status Tensors::Split(const std::string& from, const std::vector<std::string>& to) {
  const Tensor* const whole = from_.Find(from);
  if (whole == nullptr) {
    return absl::NotFoundError(absl::StrCat("there is no ", from, " in ", from_.name()));
  }
  const auto parts = static_cast<int64_t>(to.size());
  if (whole->shape.empty() || whole->shape[0] % parts != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(from, " does not fall into ", parts, " parts in ", from_.name()));
  }
  used_.insert(from);
  const int64_t rows = whole->shape[0] / parts;
  const size_t bytes = whole->bytes.size() / to.size();
  for (size_t i = 0; i < to.size(); ++i) {
    Tensor part{whole->dtype, whole->shape, whole->bytes.subspan(i * bytes, bytes), whole->scales};
    part.shape[0] = rows;
    if (whole->scales.size() > 1) {
      const auto begin = whole->scales.begin() + static_cast<ptrdiff_t>(i) * rows;
      part.scales.assign(begin, begin + rows);
    }
    to_[to[i]] = std::move(part);
  }
  return absl::OkStatus();
}

absl::Status Tensors::Linear(const std::string& from, const std::vector<std::string>& to) {
  std::vector<std::string> weights, biases;
  for (const std::string& name : to) {
    weights.push_back(name + ".weight");
    biases.push_back(name + ".bias");
  }
  RETURN_IF_ERROR(Split(from + "/weight", weights));
  if (from_.Has(from + "/bias")) return Split(from + "/bias", biases);
  if (!spec_.biases) return absl::OkStatus();
  const int64_t outputs = to_[weights.front()].shape[0];
  if (outputs > static_cast<int64_t>(kMostZeros)) {
    return absl::InvalidArgumentError(absl::StrCat(from, " has ", outputs, " outputs"));
  }
  for (const std::string& bias : biases) {
    to_[bias] = Tensor{DType::kF32, {outputs}, absl::MakeConstSpan(kZeros).first(4 * outputs)};
  }
  return absl::OkStatus();
}

absl::Status Tensors::Normalization(const std::string& from, const std::string& to) {
  RETURN_IF_ERROR(Copy(from + "/gamma", to + ".weight"));
  if (spec_.norm == Norm::kRootMeanSquare) return absl::OkStatus();
  return Copy(from + "/beta", to + ".bias");
}

absl::Status Tensors::Attention(const std::string& from, const std::string& to, bool self) {
  const std::string q = to + ".q_proj", k = to + ".k_proj", v = to + ".v_proj";
  if (self) {
    RETURN_IF_ERROR(Linear(from + "/linear_0", {q, k, v}));
    RETURN_IF_ERROR(Linear(from + "/linear_1", {to + ".out_proj"}));
  } else {
    RETURN_IF_ERROR(Linear(from + "/linear_0", {q}));
    RETURN_IF_ERROR(Linear(from + "/linear_1", {k, v}));
    RETURN_IF_ERROR(Linear(from + "/linear_2", {to + ".out_proj"}));
  }
  return Normalization(from + "/layer_norm", to + "_layer_norm");
}

absl::Status Tensors::Layer(const char* stack, int layer) {
  const std::string from = CTranslate2Layer(stack, layer);
  const std::string to = absl::StrCat("model.", stack, ".layers.", layer);
  RETURN_IF_ERROR(Attention(from + "/self_attention", to + ".self_attn", true));
  if (stack == kStacks[1]) {
    RETURN_IF_ERROR(Attention(from + "/attention", to + ".encoder_attn", false));
  }
  RETURN_IF_ERROR(Linear(from + "/ffn/linear_0", {to + ".fc1"}));
  if (spec_.gated) RETURN_IF_ERROR(Linear(from + "/ffn/linear_0_noact", {to + ".fc1_linear"}));
  RETURN_IF_ERROR(Linear(from + "/ffn/linear_1", {to + ".fc2"}));
  return Normalization(from + "/ffn/layer_norm", to + ".final_layer_norm");
}

absl::Status Tensors::PositionTable(const char* stack) {
  const std::string to = absl::StrCat("model.", stack);
  if (spec_.positions.kind == Positions::kRelative) {
    for (int l = 0; l < (stack == kStacks[0] ? spec_.encoder_layers : spec_.decoder_layers); ++l) {
      used_.insert(CTranslate2Layer(stack, l) + "/self_attention/relative_attention_bias");
    }
    return Copy(CTranslate2Layer(stack, 0) + "/self_attention/relative_attention_bias",
                to + ".relative_attention_bias.weight");
  }
  if (spec_.positions.kind != Positions::kTable) return absl::OkStatus();
  const std::string table = to + ".embed_positions.weight";
  RETURN_IF_ERROR(Copy(absl::StrCat(stack, "/position_encodings/encodings"), table));
  Tensor& tensor = to_[table];
  if (tensor.shape.size() != 2 || tensor.shape[0] < spec_.max_positions) {
    return absl::InvalidArgumentError(absl::StrCat(stack, "/position_encodings is not a table"));
  }
  tensor.bytes = tensor.bytes.first(tensor.bytes.size() / tensor.shape[0] * spec_.max_positions);
  tensor.shape[0] = spec_.max_positions;
  return absl::OkStatus();
}

absl::Status Tensors::Stack(const char* stack, int layers) {
  const std::string to = absl::StrCat("model.", stack);
  RETURN_IF_ERROR(Copy(facts_.Embeddings(stack), to + ".embed_tokens.weight"));
  RETURN_IF_ERROR(PositionTable(stack));
  if (spec_.embedding_norm) {
    RETURN_IF_ERROR(
        Normalization(absl::StrCat(stack, "/layernorm_embedding"), to + ".layernorm_embedding"));
  }
  if (spec_.final_norm) {
    RETURN_IF_ERROR(Normalization(absl::StrCat(stack, "/layer_norm"), to + ".layer_norm"));
  }
  for (int l = 0; l < layers; ++l) RETURN_IF_ERROR(Layer(stack, l));
  return absl::OkStatus();
}

absl::Status Tensors::CheckNothingIsLeft() const {
  for (const auto& [name, tensor] : from_.tensors()) {
    if (used_.contains(name) || IsKnownFact(name) || absl::EndsWith(name, "/weight_scale")) {
      continue;
    }
    // A feature that is switched off.
    if (tensor.shape.empty() && NumberOf(&tensor) == 0.0) continue;
    return absl::UnimplementedError(
        absl::StrCat("has ", name, ", which this engine does not know, in ", from_.name()));
  }
  return absl::OkStatus();
}

absl::StatusOr<Checkpoint> Tensors::Take() {
  RETURN_IF_ERROR(Stack(kStacks[0], spec_.encoder_layers));
  RETURN_IF_ERROR(Stack(kStacks[1], spec_.decoder_layers));
  RETURN_IF_ERROR(Copy("decoder/projection/weight", "lm_head.weight"));
  if (from_.Has("decoder/projection/bias")) {
    RETURN_IF_ERROR(Copy("decoder/projection/bias", "final_logits_bias"));
  }
  RETURN_IF_ERROR(CheckNothingIsLeft());
  return Checkpoint(from_.name(), from_.files(), std::move(to_));
}

}  // namespace

absl::StatusOr<Checkpoint> CTranslate2Tensors(const CTranslate2Model& model,
                                              const ModelSpec& spec) {
  return Tensors(model, spec).Take();
}

}  // namespace dragoman
