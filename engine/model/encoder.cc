#include "engine/model/encoder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/math/attend.h"
#include "engine/model/head_reading.h"

namespace dragoman {

absl::StatusOr<std::unique_ptr<const Encoder>> Encoder::Create(
    const Checkpoint& checkpoint, const ModelSpec& spec,
    std::shared_ptr<const EmbeddingTable> embeddings, Arithmetic arithmetic) {
  const std::string prefix = "model.encoder";
  const HeadShape heads = {spec.encoder_heads, spec.encoder_head_width()};
  ASSIGN_OR_RETURN(Embedding embedding,
                   Embedding::Create(checkpoint, prefix, std::move(embeddings), spec));
  std::unique_ptr<Encoder> encoder(new Encoder(heads, std::move(embedding)));
  for (int l = 0; l < spec.encoder_layers; ++l) {
    const std::string name = absl::StrCat(prefix, ".layers.", l);
    ASSIGN_OR_RETURN(
        SelfAttentionLayer attention,
        SelfAttentionLayer::Create(checkpoint, name + ".self_attn", heads, spec, arithmetic));
    ASSIGN_OR_RETURN(
        FeedForward feed_forward,
        FeedForward::Create(checkpoint, name, {spec.encoder_ffn, spec.encoder_ffn_layers}, spec,
                            arithmetic));
    encoder->layers_.push_back({std::move(attention), std::move(feed_forward)});
  }
  ASSIGN_OR_RETURN(encoder->bias_,
                   RelativeBias::Create(checkpoint, prefix, spec.encoder_layers, spec.encoder_heads,
                                        /*both_ways=*/true, spec));
  if (spec.final_norm) {
    ASSIGN_OR_RETURN(encoder->norm_,
                     Normalization::Create(checkpoint, prefix + ".layer_norm", spec));
  }
  return encoder;
}

void Encoder::Run(const TokenBatch& batch, Matrix<float>* encoded, Workspace* ws) const {
  Embed(batch, encoded, ws);
  const MatrixView<float> x = encoded->view();
  for (int l = 0; l < heads().layers; ++l) {
    const Layer& layer = layers_[l];
    layer.attention.qkv.Apply(layer.attention.residual.Enter(x, ws), &ws->projected, &ws->gemm);
    ws->context.Resize(x.rows(), heads_.width());
    for (int s = 0; s < batch.sentences(); ++s) {
      const int start = batch.starts[s];
      const int length = batch.starts[s + 1] - start;
      SelfAttention(l, ws->projected.view().Rows(start, length), 0,
                    ws->context.view().Rows(start, length), ws);
    }
    Finish(layer, x, ws);
  }
  if (norm_.has_value()) norm_->Apply(x, x, ws);
}

int Encoder::Stages(int tokens) const {
  return static_cast<int>(layers_.size()) * (1 + BlocksOf(tokens));
}

// In each layer, first the queries, keys and values of all tokens, then the rest of the layer for
// one block of tokens after the other.
void Encoder::RunStage(PartialEncoding* encoding, Workspace* ws) const {
  const int tokens = static_cast<int>(encoding->source.tokens.size());
  const int parts = 1 + BlocksOf(tokens);
  const int stage = encoding->next_stage++;
  if (stage == 0) Embed(encoding->source, &encoding->encoded, ws);
  const Layer& layer = layers_[stage / parts];
  MatrixView<float> x = encoding->encoded.view();
  if (stage % parts == 0) {
    layer.attention.qkv.Apply(layer.attention.residual.Enter(x, ws), &encoding->projected,
                              &ws->gemm);
    return;
  }
  const int first = (stage % parts - 1) * kBlock;
  x = x.Rows(first, std::min(kBlock, tokens - first));
  ws->context.Resize(x.rows(), heads_.width());
  SelfAttention(stage / parts, encoding->projected.view(), first, ws->context.view(), ws);
  if (!encoding->heads.empty()) ReportHeads(stage / parts, first, x.rows(), encoding, ws);
  Finish(layer, x, ws);
  if (stage / parts + 1 == static_cast<int>(layers_.size()) && norm_.has_value()) {
    norm_->Apply(x, x, ws);
  }
}

void Encoder::Embed(const TokenBatch& batch, Matrix<float>* encoded, Workspace* ws) const {
  encoded->Resize(static_cast<int>(batch.tokens.size()), layers_.front().attention.qkv.inputs());
  for (int s = 0; s < batch.sentences(); ++s) {
    for (int i = batch.starts[s]; i < batch.starts[s + 1]; ++i) {
      embedding_.Embed(batch.tokens[i], i - batch.starts[s], encoded->Row(i));
    }
  }
  embedding_.Finish(encoded->view(), ws);
}

// Section 3.2.3: every token of a sentence attends to all tokens of that sentence, whose queries,
// keys and values are the rows of `qkv`.  Row i of `context` belongs to token first_query + i.
void Encoder::SelfAttention(int layer, MatrixView<const float> qkv, int first_query,
                            MatrixView<float> context, Workspace* ws) const {
  const int width = heads_.width();
  const KeyValueFormat format = {.heads = heads_.heads, .width = width};
  ws->ReserveAttend(heads_.heads, qkv.rows(), context.rows());
  std::vector<const std::byte*>& keys_values = ws->attend[0].rows;
  keys_values.resize(qkv.rows());
  for (int i = 0; i < qkv.rows(); ++i) {
    keys_values[i] = reinterpret_cast<const std::byte*>(qkv.Row(i).data() + width);
  }
  ws->team().Split(context.rows(), Workspace::kLeastQueries, [&](int member, int first, int end) {
    const int queries = end - first;
    Attend(format, qkv.Cols(0, width).Rows(first_query + first, queries), keys_values,
           absl::MakeSpan(ws->attend[member].scratch), context.Rows(first, queries),
           {.bias = bias_.Of(layer, first_query + first)});
  });
}

// After the SelfAttention of these queries, whose keys and values are still in the workspace.
void Encoder::ReportHeads(int layer, int first_query, int queries, PartialEncoding* encoding,
                          Workspace* ws) const {
  const int width = heads_.width();
  const KeyValueFormat format = {.heads = heads_.heads, .width = width};
  Workspace::AttendMemory& memory = ws->attend[0];
  const HeadReading reading = {
      .format = format,
      .q = encoding->projected.view().Cols(0, width).Rows(first_query, queries),
      .rows = memory.rows,
      .scratch = absl::MakeSpan(memory.scratch),
      .bias = bias_.Of(layer, first_query)};
  const size_t tokens = encoding->source.tokens.size();
  for (size_t i = 0; i < encoding->heads.size(); ++i) {
    if (encoding->heads[i].layer != layer) continue;
    ReadHead(reading, encoding->heads[i].head,
             encoding->attention + (i * tokens + first_query) * tokens, tokens);
  }
}

// The rest of a layer for the tokens of `x`, whose attention is in the workspace.
void Encoder::Finish(const Layer& layer, MatrixView<float> x, Workspace* ws) const {
  layer.attention.out.Apply(ws->context.view(), &ws->sublayer, &ws->gemm);
  layer.attention.residual.Leave(ws->sublayer.view(), x, ws);
  layer.feed_forward.Apply(x, ws);
}

}  // namespace dragoman
