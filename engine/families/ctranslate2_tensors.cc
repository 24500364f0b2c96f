// From CTranslate2's variables to canonical tensors.
//
//   encoder/layer_0/self_attention/linear_0/weight [3 d, d]  ->  q, k and v_proj, rows of it
//   decoder/layer_0/attention/linear_1/weight [2 d, d]       ->  k and v_proj of encoder_attn
//   encoder/layer_0/ffn/linear_0_noact/weight                ->  fc1_linear
//
// A part of a matrix is a view of its rows, so nothing is copied.

#include <array>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "engine/families/ctranslate2.h"
#include "engine/families/ctranslate2_facts.h"
#include "engine/families/hugging_face.h"
#include "engine/families/tensor_map.h"

namespace dragoman {
namespace {

// Biases that a file omits although other layers have them.
constexpr size_t kMostZeros = 3 * kMaxWidth;
constexpr std::array<std::byte, kMostZeros * sizeof(float)> kZeros = {};

constexpr const char* kStacks[] = {"encoder", "decoder"};

class Tensors {
 public:
  Tensors(const Checkpoint& from, const ModelSpec& spec)
      : from_(from), facts_(from_), spec_(spec), map_(from_) {}

  absl::StatusOr<Checkpoint> Take() {
    RETURN_IF_ERROR(Stack(kStacks[0], spec_.encoder_layers));
    RETURN_IF_ERROR(Stack(kStacks[1], spec_.decoder_layers));
    RETURN_IF_ERROR(map_.Take("lm_head.weight", "decoder/projection/weight"));
    if (from_.Has("decoder/projection/bias")) {
      RETURN_IF_ERROR(map_.Take("final_logits_bias", "decoder/projection/bias"));
    }
    return std::move(map_).Finish();
  }

 private:
  absl::Status Linear(const std::string& from, const std::vector<std::string>& to) {
    std::vector<std::string> weights, biases;
    for (const std::string& name : to) {
      weights.push_back(name + ".weight");
      biases.push_back(name + ".bias");
    }
    RETURN_IF_ERROR(map_.TakeParts(weights, from + "/weight"));
    if (from_.Has(from + "/bias")) return map_.TakeParts(biases, from + "/bias");
    if (!spec_.biases) return absl::OkStatus();
    const int64_t outputs = map_.at(weights.front()).shape[0];
    if (outputs > static_cast<int64_t>(kMostZeros)) {
      return InvalidArgumentError(from, " has ", outputs, " outputs");
    }
    for (const std::string& bias : biases) {
      map_.Add(bias,
               Tensor{DType::kF32, {outputs}, absl::MakeConstSpan(kZeros).first(4 * outputs)});
    }
    return absl::OkStatus();
  }

  absl::Status Normalization(const std::string& from, const std::string& to) {
    RETURN_IF_ERROR(map_.Take(to + ".weight", from + "/gamma"));
    if (spec_.norm == Norm::kRootMeanSquare) return absl::OkStatus();
    return map_.Take(to + ".bias", from + "/beta");
  }

  absl::Status Attention(const std::string& from, const std::string& to, bool self) {
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

  absl::Status Layer(const char* stack, int layer) {
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

  absl::Status Stack(const char* stack, int layers) {
    const std::string to = absl::StrCat("model.", stack);
    RETURN_IF_ERROR(map_.Take(to + ".embed_tokens.weight", facts_.Embeddings(stack)));
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

  absl::Status PositionTable(const char* stack) {
    const std::string to = absl::StrCat("model.", stack);
    if (spec_.positions.kind == Positions::kRelative) {
      // The other layers have copies.
      return map_.Take(to + ".relative_attention_bias.weight",
                       CTranslate2Layer(stack, 0) + "/self_attention/relative_attention_bias");
    }
    if (spec_.positions.kind != Positions::kTable) return absl::OkStatus();
    return map_.TakeRows(to + ".embed_positions.weight",
                         absl::StrCat(stack, "/position_encodings/encodings"), spec_.max_positions);
  }

  const Checkpoint& from_;
  const CTranslate2Facts facts_;
  const ModelSpec& spec_;
  TensorMap map_;
};

}  // namespace

absl::StatusOr<Checkpoint> CTranslate2Tensors(const CTranslate2Model& model) {
  ASSIGN_OR_RETURN(const ModelSpec spec, ReadCTranslate2Spec(model));
  return Tensors(model.file.variables, spec).Take();
}

}  // namespace dragoman
