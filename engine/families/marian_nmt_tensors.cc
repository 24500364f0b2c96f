// Maps Marian's names of tensors to the canonical ones.

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "engine/families/marian_nmt.h"

namespace dragoman {
namespace {

// One layer of a stack: Marian's prefix and ours.
struct LayerNames {
  std::string marian;
  std::string canonical;
};

class TransformerNames {
 public:
  TransformerNames(const MarianModel& model, const ModelSpec& spec)
      : spec_(spec), map_(model.tensors) {}

  absl::Status Tables(const MarianTables& tables) { return TakeMarianTables(tables, &map_); }

  absl::Status Stack(const std::string& side) {
    const std::string canonical = absl::StrCat("model.", side);
    if (spec_.embedding_norm) {
      RETURN_IF_ERROR(Norm(canonical + ".layernorm_embedding", side + "_emb", "_pre"));
    }
    if (spec_.final_norm) RETURN_IF_ERROR(Norm(canonical + ".layer_norm", side + "_top", ""));
    if (spec_.positions.kind == Positions::kTable) {
      RETURN_IF_ERROR(map_.Take(canonical + ".embed_positions.weight", "Wpos"));
    }
    return absl::OkStatus();
  }

  absl::Status Attention(const LayerNames& layer, const char* canonical, const char* marian) {
    const std::string to = layer.canonical + canonical, from = layer.marian + marian;
    for (const auto& [projection, letter] :
         {std::pair(".q_proj", "q"), {".k_proj", "k"}, {".v_proj", "v"}}) {
      RETURN_IF_ERROR(Linear(to + projection, from, letter));
    }
    if (spec_.attention_output) RETURN_IF_ERROR(Linear(to + ".out_proj", from, "o"));
    return Around(to, from + "_Wo");
  }

  // The tensors with which a layer of the decoder reads the earlier tokens of a hypothesis.
  absl::Status History(const MarianModel& model, const LayerNames& layer) {
    if (spec_.history == "ssru") return Recurrence(model, layer);
    if (spec_.history == "average_attention") return Average(model, layer);
    return Attention(layer, ".self_attn", "_self");
  }

  absl::Status FeedForward(const LayerNames& layer, int depth) {
    const std::string from = layer.marian + "_ffn";
    for (int i = 1; i <= depth; ++i) {
      const std::string name = i == depth ? ".fc2" : i == 1 ? ".fc1" : absl::StrCat(".fc1_", i);
      RETURN_IF_ERROR(Linear(layer.canonical + name, from, absl::StrCat(i)));
    }
    return Around(layer.canonical + ".final", from + "_ffn");
  }

  Checkpoint Finish() && { return std::move(map_).Finish(); }

 private:
  absl::Status Linear(const std::string& to, const std::string& from, const std::string& suffix) {
    RETURN_IF_ERROR(map_.TakeTransposed(to + ".weight", absl::StrCat(from, "_W", suffix)));
    return map_.Take(to + ".bias", absl::StrCat(from, "_b", suffix));
  }

  absl::Status Norm(const std::string& to, const std::string& from, const char* place) {
    const bool scale_alone = spec_.norm == Norm::kRootMeanSquare;
    const char* const kind = scale_alone ? "_rms" : "_ln";
    RETURN_IF_ERROR(map_.Take(to + ".weight", absl::StrCat(from, kind, "_scale", place)));
    if (scale_alone) return absl::OkStatus();
    return map_.Take(to + ".bias", absl::StrCat(from, kind, "_bias", place));
  }

  absl::Status Recurrence(const MarianModel& model, const LayerNames& layer) {
    const std::string to = layer.canonical + ".rnn", from = layer.marian + "_rnn";
    RETURN_IF_ERROR(map_.TakeTransposed(to + ".input.weight", from + "_W"));
    RETURN_IF_ERROR(Linear(to + ".forget", from, "f"));
    if (model.tensors.Has(from + "_Wr")) RETURN_IF_ERROR(Linear(to + ".reset", from, "r"));
    if (model.tensors.Has(from + "_Wo")) RETURN_IF_ERROR(Linear(to + ".out_proj", from, "o"));
    if (model.tensors.Has(from + "_gamma")) {
      RETURN_IF_ERROR(map_.Take(to + ".input_norm.weight", from + "_gamma"));
      RETURN_IF_ERROR(map_.Take(to + ".forget_norm.weight", from + "_gammaf"));
    }
    return Around(to, from + "_ffn", from);
  }

  absl::Status Average(const MarianModel& model, const LayerNames& layer) {
    const std::string to = layer.canonical + ".aan", from = layer.marian + "_aan";
    const JsonFields fields = model.fields();
    int depth = 2, inner = 2048;
    RETURN_IF_ERROR(fields.Read("transformer-aan-depth", 1, 64, &depth));
    RETURN_IF_ERROR(fields.Read("transformer-dim-aan", 1, 1 << 16, &inner));
    for (int i = 1; i < depth; ++i) {
      RETURN_IF_ERROR(Linear(absl::StrCat(to, ".fc", i), from, absl::StrCat(i)));
    }
    if (depth > 1 && inner != spec_.d_model) {
      RETURN_IF_ERROR(Linear(to + ".out_proj", from, absl::StrCat(depth)));
    }
    bool no_gate = false;
    RETURN_IF_ERROR(fields.Read("transformer-aan-nogate", &no_gate));
    if (!no_gate) {
      RETURN_IF_ERROR(Linear(to + ".input", from, "i"));
      RETURN_IF_ERROR(Linear(to + ".forget", from, "f"));
    }
    return Around(to, from + "_ffn");
  }

  // The steps around a sublayer; the norm before it may have its own prefix.
  absl::Status Around(const std::string& to, const std::string& from,
                      const std::string& from_before = "") {
    const Processing around = spec_.around();
    if (!around.before.empty()) {
      const char* const suffix = around.norms_after() ? "_layer_norm_before" : "_layer_norm";
      RETURN_IF_ERROR(Norm(to + suffix, from_before.empty() ? from : from_before, "_pre"));
    }
    if (around.norms_after()) RETURN_IF_ERROR(Norm(to + "_layer_norm", from, ""));
    if (!absl::StrContains(around.after, 'h')) return absl::OkStatus();
    return Linear(to + "_highway", from, "h");
  }

  const ModelSpec& spec_;
  TensorMap map_;
};

}  // namespace

absl::Status TakeMarianTables(const MarianTables& tables, TensorMap* map) {
  const bool shared = tables.source == tables.target;
  RETURN_IF_ERROR(map->Take(shared ? "model.shared.weight" : "model.encoder.embed_tokens.weight",
                            tables.source));
  if (!shared) {
    RETURN_IF_ERROR(map->Take("model.decoder.embed_tokens.weight", tables.target));
  }
  if (tables.output != tables.target) {
    const bool by_columns = absl::EndsWith(tables.output, "_W");
    RETURN_IF_ERROR(by_columns ? map->TakeTransposed("lm_head.weight", tables.output)
                               : map->Take("lm_head.weight", tables.output));
  }
  if (tables.output_bias.empty()) return absl::OkStatus();
  return map->Take("final_logits_bias", tables.output_bias);
}

absl::StatusOr<Checkpoint> MarianTensors(const MarianModel& model, const ModelSpec& spec) {
  if (spec.network != "transformer") return MarianRecurrentTensors(model);
  ASSIGN_OR_RETURN(const MarianTables tables, ReadMarianTables(model));
  TransformerNames names(model, spec);
  RETURN_IF_ERROR(names.Tables(tables));
  for (const char* side : {"encoder", "decoder"}) RETURN_IF_ERROR(names.Stack(side));
  for (int l = 0; l < spec.encoder_layers; ++l) {
    const LayerNames layer = {absl::StrCat("encoder_l", l + 1),
                              absl::StrCat("model.encoder.layers.", l)};
    RETURN_IF_ERROR(names.Attention(layer, ".self_attn", "_self"));
    RETURN_IF_ERROR(names.FeedForward(layer, spec.encoder_ffn_layers));
  }
  ASSIGN_OR_RETURN(const std::vector<int> tied, ReadTiedLayers(model, spec.decoder_layers));
  for (int l = 0; l < spec.decoder_layers; ++l) {
    const LayerNames layer = {absl::StrCat("decoder_l", tied[l]),
                              absl::StrCat("model.decoder.layers.", l)};
    RETURN_IF_ERROR(names.History(model, layer));
    RETURN_IF_ERROR(names.Attention(layer, ".encoder_attn", "_context"));
    RETURN_IF_ERROR(names.FeedForward(layer, spec.decoder_ffn_layers));
  }
  return std::move(names).Finish();
}

}  // namespace dragoman
