#include "engine/model/decoder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/math/kernels.h"

namespace dragoman {

absl::StatusOr<Decoder::Layer> Decoder::CreateLayer(const Checkpoint& checkpoint,
                                                    const std::string& name,
                                                    const ModelConfig& config,
                                                    Precision precision) {
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
  ASSIGN_OR_RETURN(Linear out, ReadOutProjection(checkpoint, self, d_model, precision));
  ASSIGN_OR_RETURN(AddNorm norm, AddNorm::Create(checkpoint, self + "_layer_norm", d_model));
  ASSIGN_OR_RETURN(Linear cross_q, Linear::Create(source.q, Activation::kNone, precision));
  ASSIGN_OR_RETURN(Linear cross_kv, fuse(std::move(source_parts)));
  ASSIGN_OR_RETURN(Linear cross_out, ReadOutProjection(checkpoint, cross, d_model, precision));
  ASSIGN_OR_RETURN(AddNorm cross_norm, AddNorm::Create(checkpoint, cross + "_layer_norm", d_model));
  ASSIGN_OR_RETURN(FeedForward feed_forward,
                   FeedForward::Create(checkpoint, name, d_model, config.decoder_ffn,
                                       config.activation, precision));
  return Layer{std::move(qkv),        std::move(out),         std::move(norm),
               std::move(cross_q),    std::move(cross_kv),    std::move(cross_out),
               std::move(cross_norm), std::move(feed_forward)};
}

absl::StatusOr<std::unique_ptr<const Decoder>> Decoder::Create(
    const Checkpoint& checkpoint, const ModelConfig& config,
    std::shared_ptr<const Matrix<float>> embeddings, Precision precision) {
  const std::string prefix = "model.decoder";
  std::vector<float> bias(config.target_vocabulary, 0.0f);
  if (checkpoint.Has("final_logits_bias")) {
    ASSIGN_OR_RETURN(bias, checkpoint.ReadVector("final_logits_bias", config.target_vocabulary));
  }
  ASSIGN_OR_RETURN(Linear projection,
                   Linear::Create(embeddings->view(), bias, Activation::kNone, precision));
  ASSIGN_OR_RETURN(Embedding embedding,
                   Embedding::Create(checkpoint, prefix, std::move(embeddings), config));
  std::unique_ptr<Decoder> decoder(
      new Decoder(config.decoder_heads, std::move(embedding), std::move(projection)));
  for (int l = 0; l < config.decoder_layers; ++l) {
    ASSIGN_OR_RETURN(Layer layer, CreateLayer(checkpoint, absl::StrCat(prefix, ".layers.", l),
                                              config, precision));
    decoder->layers_.push_back(std::move(layer));
  }
  return decoder;
}

void Decoder::Remember(MatrixView<const float> encoded, SourceMemory* source, Workspace* ws) const {
  for (size_t l = 0; l < layers_.size(); ++l) {
    layers_[l].cross_kv.Apply(encoded, source->layer(static_cast<int>(l)), &ws->gemm);
  }
}

void Decoder::Step(absl::Span<const DecodeRow> rows, Matrix<float>* logits, Workspace* ws) const {
  ws->x.Resize(static_cast<int>(rows.size()), output_.inputs());
  const MatrixView<float> x = ws->x.view();
  for (size_t i = 0; i < rows.size(); ++i) {
    embedding_.Embed(rows[i].token, static_cast<int>(rows[i].path.size()) - 1,
                     x.Row(static_cast<int>(i)));
  }
  for (size_t l = 0; l < layers_.size(); ++l) {
    SelfAttention(static_cast<int>(l), rows, x, ws);
    CrossAttention(static_cast<int>(l), rows, x, ws);
    layers_[l].feed_forward.Apply(x, ws);
  }
  output_.Apply(x, logits, &ws->gemm);
}

void Decoder::SelfAttention(int l, absl::Span<const DecodeRow> rows, MatrixView<float> x,
                            Workspace* ws) const {
  const Layer& layer = layers_[l];
  const int d_model = x.cols();
  layer.qkv.Apply(x, &ws->projected, &ws->gemm);
  ws->context.Resize(x.rows(), d_model);
  for (int i = 0; i < x.rows(); ++i) {
    const absl::Span<const float> qkv = ws->projected.Row(i);
    const MatrixView<float> kv = rows[i].cache->layer(l);
    std::copy_n(qkv.data() + d_model, 2 * d_model, kv.Row(rows[i].path.back()).data());
    Attend(heads_, qkv.first(d_model), kv.Cols(0, d_model), kv.Cols(d_model, d_model), rows[i].path,
           ws->AttentionWeights(heads_, rows[i].path.size()), ws->context.Row(i));
  }
  layer.out.Apply(ws->context.view(), &ws->sublayer, &ws->gemm);
  layer.norm.Apply(ws->sublayer.view(), x);
}

void Decoder::CrossAttention(int l, absl::Span<const DecodeRow> rows, MatrixView<float> x,
                             Workspace* ws) const {
  const Layer& layer = layers_[l];
  const int d_model = x.cols();
  layer.cross_q.Apply(x, &ws->projected, &ws->gemm);
  ws->context.Resize(x.rows(), d_model);
  for (int i = 0; i < x.rows(); ++i) {
    const SourceMemory& source = *rows[i].source;
    const MatrixView<const float> kv = source.layer(l);
    Attend(heads_, ws->projected.Row(i), kv.Cols(0, d_model), kv.Cols(d_model, d_model),
           ws->FirstPositions(source.source_tokens()),
           ws->AttentionWeights(heads_, source.source_tokens()), ws->context.Row(i));
  }
  layer.cross_out.Apply(ws->context.view(), &ws->sublayer, &ws->gemm);
  layer.cross_norm.Apply(ws->sublayer.view(), x);
}

}  // namespace dragoman
