// The decoder, one token at a time ("Attention Is All You Need", section 3.1, right of figure 1).
//
// A row of a step extends one hypothesis by one token.  The causal mask of section 3.2.3 is not a
// mask here: a row attends to the nodes of its own path, which are the tokens before it and itself,
// and there is nothing else to see.  Rows of a step may come from any sentences, each at its own
// position: a batch has no common clock.

#ifndef DRAGOMAN_ENGINE_MODEL_DECODER_H_
#define DRAGOMAN_ENGINE_MODEL_DECODER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/model/kv_cache.h"
#include "engine/model/layers.h"
#include "engine/model/output_projection.h"
#include "engine/model/relative_bias.h"

namespace dragoman {

// Immutable, so safe for concurrent use with a workspace for each thread.
class Decoder {
 public:
  // `embeddings` is that of the target.
  static absl::StatusOr<std::unique_ptr<const Decoder>> Create(
      const Checkpoint& checkpoint, const ModelSpec& spec,
      std::shared_ptr<const EmbeddingTable> embeddings,
      std::shared_ptr<const OutputProjection> output, Arithmetic arithmetic);

  // Computes the keys and values of one encoded sentence [source tokens, d_model].
  // REQUIRES: `encoded` has as many rows as `source` was made for.
  void Remember(MatrixView<const float> encoded, SourceMemory* source, Workspace* ws) const;

  // One step: row i of the logits that `sink` is given scores what follows rows[i], and the keys
  // and values of its token stand in its cache; rows that are not scored are left out.  A path may
  // hold the last nodes of rows before it, whose tokens then come before its own.
  // REQUIRES: tokens and candidates are in the vocabulary, paths are no longer than max_positions,
  // no two rows share a last node.
  void Step(absl::Span<const DecodeRow> rows, LogitsSink sink, Workspace* ws) const;

 private:
  struct Layer {
    Linear qkv;  // [d_model, 3 width]
    Linear out;  // [width, d_model]
    Residual residual;
    Linear cross_q;    // [d_model, width]
    Linear cross_kv;   // [d_model, 2 width]
    Linear cross_out;  // [width, d_model]
    Residual cross_residual;
    FeedForward feed_forward;
  };

  Decoder(const ModelSpec& spec, Embedding embedding,
          std::shared_ptr<const OutputProjection> output)
      : d_model_(spec.d_model),
        heads_{spec.decoder_heads, spec.decoder_head_width()},
        zero_start_(spec.zero_start),
        alignment_layer_(LayerOf(spec.alignment, spec.decoder_layers)),
        alignment_weights_(WeightsOf(spec.alignment, spec.decoder_heads)),
        embedding_(std::move(embedding)),
        output_(std::move(output)) {}
  static absl::StatusOr<Layer> CreateLayer(const Checkpoint& checkpoint, const std::string& name,
                                           const ModelSpec& spec, Arithmetic arithmetic);
  static int LayerOf(const AlignmentHeads& alignment, int layers);
  static std::vector<float> WeightsOf(const AlignmentHeads& alignment, int heads);
  void Project(MatrixView<const float> x, absl::Span<const DecodeRow> rows, LogitsSink sink,
               Workspace* ws) const;
  void SelfAttention(int l, absl::Span<const DecodeRow> rows, MatrixView<float> x,
                     Workspace* ws) const;
  void CrossAttention(int l, absl::Span<const DecodeRow> rows, MatrixView<float> x,
                      Workspace* ws) const;

  const int d_model_;
  const HeadShape heads_;
  const bool zero_start_;
  const int alignment_layer_;                   // whose attention rows are told
  const std::vector<float> alignment_weights_;  // of its heads
  const Embedding embedding_;
  std::vector<Layer> layers_;
  std::optional<RelativeBias> bias_;   // of self-attention
  std::optional<Normalization> norm_;  // of what the output projection reads
  const std::shared_ptr<const OutputProjection> output_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_DECODER_H_
