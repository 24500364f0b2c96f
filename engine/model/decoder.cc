#include "engine/model/decoder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/math/kernels.h"

namespace dragoman {

absl::StatusOr<Decoder::Layer> Decoder::CreateLayer(const Checkpoint& checkpoint,
                                                    const std::string& name,
                                                    const ModelSpec& config, Precision precision) {
  const int d_model = config.d_model;
  const std::string self = name + ".self_attn";
  const std::string cross = name + ".encoder_attn";
  const auto fuse = [&](std::vector<Weight> parts) {
    return Linear::Create(Fuse(parts), Activation::kNone, precision);
  };
  ASSIGN_OR_RETURN(AttentionWeights own,
                   ReadAttentionWeights(checkpoint, self, d_model, config.decoder_heads));
  ASSIGN_OR_RETURN(AttentionWeights source,
                   ReadAttentionWeights(checkpoint, cross, d_model, config.decoder_heads));
  std::vector<Weight> own_parts, source_parts;
  own_parts.push_back(std::move(own.q));
  own_parts.push_back(std::move(own.k));
  own_parts.push_back(std::move(own.v));
  source_parts.push_back(std::move(source.k));
  source_parts.push_back(std::move(source.v));
  ASSIGN_OR_RETURN(Linear qkv, fuse(std::move(own_parts)));
  ASSIGN_OR_RETURN(Linear out,
                   ReadOutProjection(checkpoint, self, d_model, config.decoder_heads, precision));
  ASSIGN_OR_RETURN(AddNorm norm, AddNorm::Create(checkpoint, self + "_layer_norm", d_model));
  ASSIGN_OR_RETURN(Linear cross_q, Linear::Create(source.q, Activation::kNone, precision));
  ASSIGN_OR_RETURN(Linear cross_kv, fuse(std::move(source_parts)));
  ASSIGN_OR_RETURN(Linear cross_out,
                   ReadOutProjection(checkpoint, cross, d_model, config.decoder_heads, precision));
  ASSIGN_OR_RETURN(AddNorm cross_norm, AddNorm::Create(checkpoint, cross + "_layer_norm", d_model));
  ASSIGN_OR_RETURN(FeedForward feed_forward,
                   FeedForward::Create(checkpoint, name, d_model, config.decoder_ffn,
                                       config.activation, precision));
  return Layer{std::move(qkv),        std::move(out),         std::move(norm),
               std::move(cross_q),    std::move(cross_kv),    std::move(cross_out),
               std::move(cross_norm), std::move(feed_forward)};
}

absl::StatusOr<std::unique_ptr<const Decoder>> Decoder::Create(
    const Checkpoint& checkpoint, const ModelSpec& config,
    std::shared_ptr<const EmbeddingTable> embeddings, OutputProjection output,
    Precision precision) {
  const std::string prefix = "model.decoder";
  ASSIGN_OR_RETURN(Embedding embedding,
                   Embedding::Create(checkpoint, prefix, std::move(embeddings), config));
  std::unique_ptr<Decoder> decoder(new Decoder(config, std::move(embedding), std::move(output)));
  for (int l = 0; l < config.decoder_layers; ++l) {
    ASSIGN_OR_RETURN(Layer layer, CreateLayer(checkpoint, absl::StrCat(prefix, ".layers.", l),
                                              config, precision));
    decoder->layers_.push_back(std::move(layer));
  }
  return decoder;
}

void Decoder::Remember(MatrixView<const float> encoded, SourceMemory* source, Workspace* ws) const {
  for (size_t l = 0; l < layers_.size(); ++l) {
    layers_[l].cross_kv.Apply(encoded, &ws->keys_values, &ws->gemm);
    source->keys_values().Set(static_cast<int>(l), 0, ws->keys_values.view());
  }
}

void Decoder::Step(absl::Span<const DecodeRow> rows, LogitsSink sink, Workspace* ws) const {
  ws->x.Resize(static_cast<int>(rows.size()), d_model_);
  ws->candidates.clear();
  const MatrixView<float> x = ws->x.view();
  for (int i = 0; i < x.rows(); ++i) {
    embedding_.Embed(rows[i].token, static_cast<int>(rows[i].path.size()) - 1, x.Row(i));
    ws->candidates.push_back(rows[i].candidates);
  }
  for (size_t l = 0; l < layers_.size(); ++l) {
    SelfAttention(static_cast<int>(l), rows, x, ws);
    CrossAttention(static_cast<int>(l), rows, x, ws);
    layers_[l].feed_forward.Apply(x, ws);
  }
  output_.Run(x, ws->candidates, sink, ws);
}

void Decoder::SelfAttention(int l, absl::Span<const DecodeRow> rows, MatrixView<float> x,
                            Workspace* ws) const {
  const Layer& layer = layers_[l];
  layer.qkv.Apply(x, &ws->projected, &ws->gemm);
  ws->context.Resize(x.rows(), d_model_);
  size_t longest = 0;
  for (const DecodeRow& row : rows) longest = std::max(longest, row.path.size());
  ws->ReserveAttend(heads_, longest, 1);
  const auto attend = [&](int member, int first, int end) {
    for (int i = first; i < end; ++i) {
      const MatrixView<const float> qkv = ws->projected.view().Rows(i, 1);
      KeyValues& keys_values = rows[i].cache->keys_values();
      keys_values.Set(l, rows[i].path.back(), qkv.Cols(d_model_, 2 * d_model_));
      keys_values.Attend(l, qkv.Cols(0, d_model_), rows[i].path, ws->context.view().Rows(i, 1),
                         member, ws);
    }
  };
  ws->team().Split(x.rows(), Workspace::kLeastQueries, attend);
  layer.out.Apply(ws->context.view(), &ws->sublayer, &ws->gemm);
  layer.norm.Apply(ws->sublayer.view(), x, ws);
}

// The hypotheses of a sentence stand together and read its keys and values together.
void Decoder::CrossAttention(int l, absl::Span<const DecodeRow> rows, MatrixView<float> x,
                             Workspace* ws) const {
  const Layer& layer = layers_[l];
  layer.cross_q.Apply(x, &ws->projected, &ws->gemm);
  ws->context.Resize(x.rows(), d_model_);
  int longest = 0;
  for (const DecodeRow& row : rows) longest = std::max(longest, row.source->source_tokens());
  const absl::Span<const int32_t> positions = ws->FirstPositions(longest);
  ws->ReserveAttend(heads_, longest, x.rows());
  const auto attend = [&](int member, int first, int end) {
    for (int i = first, next; i < end; i = next) {
      const SourceMemory& source = *rows[i].source;
      next = i + 1;
      while (next < end && rows[next].source == &source) ++next;
      source.keys_values().Attend(l, ws->projected.view().Rows(i, next - i),
                                  positions.first(source.source_tokens()),
                                  ws->context.view().Rows(i, next - i), member, ws);
    }
  };
  ws->team().Split(x.rows(), Workspace::kLeastQueries, attend);
  layer.cross_out.Apply(ws->context.view(), &ws->sublayer, &ws->gemm);
  layer.cross_norm.Apply(ws->sublayer.view(), x, ws);
}

}  // namespace dragoman
