// The encoder: source tokens to vectors ("Attention Is All You Need", section 3.1, left of figure
// 1).

#ifndef DRAGOMAN_ENGINE_MODEL_ENCODER_H_
#define DRAGOMAN_ENGINE_MODEL_ENCODER_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/model/layers.h"
#include "engine/model/network.h"
#include "engine/model/relative_bias.h"

namespace dragoman {

// Immutable, so safe for concurrent use with a workspace for each thread.
class Encoder {
 public:
  // `embeddings` is the source's table.
  static absl::StatusOr<std::unique_ptr<const Encoder>> Create(
      const Checkpoint& checkpoint, const ModelSpec& spec,
      std::shared_ptr<const EmbeddingTable> embeddings, Arithmetic arithmetic);

  // Encodes all the sentences; row i of `encoded` [tokens, d_model] belongs to token i.
  // REQUIRES: every token is in the vocabulary, no sentence is longer than max_positions.
  void Run(const TokenBatch& batch, Matrix<float>* encoded, Workspace* ws) const;

  // Encodes one sentence of `tokens` tokens in this many calls of RunStage, each about the same
  // amount of work.
  int Stages(int tokens) const;
  void RunStage(PartialEncoding* encoding, Workspace* ws) const;

  HeadCounts heads() const { return {static_cast<int>(layers_.size()), heads_.heads}; }

 private:
  struct Layer {
    SelfAttentionLayer attention;
    FeedForward feed_forward;
  };

  // In stages, a sentence advances by this many tokens at a time.
  static constexpr int kBlock = 64;

  Encoder(HeadShape heads, Embedding embedding) : heads_(heads), embedding_(std::move(embedding)) {}
  static int BlocksOf(int tokens) { return (tokens + kBlock - 1) / kBlock; }
  void Embed(const TokenBatch& batch, Matrix<float>* encoded, Workspace* ws) const;
  void SelfAttention(int layer, MatrixView<const float> qkv, int first_query,
                     MatrixView<float> context, Workspace* ws) const;
  void ReportHeads(int layer, int first_query, int queries, PartialEncoding* encoding,
                   Workspace* ws) const;
  void Finish(const Layer& layer, MatrixView<float> x, Workspace* ws) const;

  const HeadShape heads_;
  const Embedding embedding_;
  std::vector<Layer> layers_;
  RelativeBias bias_;                  // of self-attention
  std::optional<Normalization> norm_;  // of the output
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_ENCODER_H_
