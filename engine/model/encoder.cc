#include "engine/model/encoder.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/math/kernels.h"

namespace dragoman {

absl::StatusOr<std::unique_ptr<const Encoder>> Encoder::Create(
    const Checkpoint& checkpoint, const ModelSpec& config,
    std::shared_ptr<const EmbeddingTable> embeddings, Precision precision) {
  const std::string prefix = "model.encoder";
  const int d_model = config.d_model;
  ASSIGN_OR_RETURN(Embedding embedding,
                   Embedding::Create(checkpoint, prefix, std::move(embeddings), config));
  std::unique_ptr<Encoder> encoder(new Encoder(config.encoder_heads, std::move(embedding)));
  for (int l = 0; l < config.encoder_layers; ++l) {
    const std::string name = absl::StrCat(prefix, ".layers.", l);
    ASSIGN_OR_RETURN(
        AttentionWeights attention,
        ReadAttentionWeights(checkpoint, name + ".self_attn", d_model, config.encoder_heads));
    std::vector<Weight> parts;
    parts.push_back(std::move(attention.q));
    parts.push_back(std::move(attention.k));
    parts.push_back(std::move(attention.v));
    ASSIGN_OR_RETURN(Linear qkv, Linear::Create(Fuse(parts), Activation::kNone, precision));
    ASSIGN_OR_RETURN(Linear out, ReadOutProjection(checkpoint, name + ".self_attn", d_model,
                                                   config.encoder_heads, precision));
    ASSIGN_OR_RETURN(AddNorm norm,
                     AddNorm::Create(checkpoint, name + ".self_attn_layer_norm", d_model));
    ASSIGN_OR_RETURN(FeedForward feed_forward,
                     FeedForward::Create(checkpoint, name, d_model, config.encoder_ffn,
                                         config.activation, precision));
    encoder->layers_.push_back(
        {std::move(qkv), std::move(out), std::move(norm), std::move(feed_forward)});
  }
  return encoder;
}

void Encoder::Run(const TokenBatch& batch, Matrix<float>* encoded, Workspace* ws) const {
  encoded->Resize(static_cast<int>(batch.tokens.size()), layers_.front().qkv.inputs());
  const MatrixView<float> x = encoded->view();
  for (int s = 0; s < batch.sentences(); ++s) {
    for (int i = batch.starts[s]; i < batch.starts[s + 1]; ++i) {
      embedding_.Embed(batch.tokens[i], i - batch.starts[s], x.Row(i));
    }
  }
  for (const Layer& layer : layers_) {
    SelfAttention(layer, batch, x, ws);
    layer.feed_forward.Apply(x, ws);
  }
}

// Section 3.2.3: every token of a sentence attends to all the tokens of that sentence.
void Encoder::SelfAttention(const Layer& layer, const TokenBatch& batch, MatrixView<float> x,
                            Workspace* ws) const {
  const int d_model = x.cols();
  layer.qkv.Apply(x, &ws->projected, &ws->gemm);
  ws->context.Resize(x.rows(), d_model);
  for (int s = 0; s < batch.sentences(); ++s) {
    const int start = batch.starts[s];
    const int length = batch.starts[s + 1] - start;
    const MatrixView<const float> qkv = ws->projected.view().Rows(start, length);
    const absl::Span<const int32_t> positions = ws->FirstPositions(length);
    ws->ReserveAttend(heads_, length, length);
    ws->team().Split(length, Workspace::kLeastQueries, [&](int member, int first, int end) {
      const int queries = end - first;
      Attend(heads_, qkv.Cols(0, d_model).Rows(first, queries), qkv.Cols(d_model, d_model),
             qkv.Cols(2 * d_model, d_model), positions, absl::MakeSpan(ws->attend[member]),
             ws->context.view().Rows(start + first, queries));
    });
  }
  layer.out.Apply(ws->context.view(), &ws->sublayer, &ws->gemm);
  layer.norm.Apply(ws->sublayer.view(), x, ws);
}

}  // namespace dragoman
