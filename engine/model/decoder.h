// The decoder, one token at a time ("Attention Is All You Need", section 3.1, right of figure 1).
//
// A row of a step extends one hypothesis by one token.  A History (history.h) supplies the tokens
// before it.  Rows of a step may come from any sentences, each at its own position.

#ifndef DRAGOMAN_ENGINE_MODEL_DECODER_H_
#define DRAGOMAN_ENGINE_MODEL_DECODER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/model/history.h"
#include "engine/model/kv_cache.h"
#include "engine/model/layers.h"
#include "engine/model/output_projection.h"

namespace dragoman {

// Immutable, so safe for concurrent use with a workspace for each thread.
class Decoder {
 public:
  // `embeddings` is the target's table.
  static absl::StatusOr<std::unique_ptr<const Decoder>> Create(
      const Checkpoint& checkpoint, const ModelSpec& spec,
      std::shared_ptr<const EmbeddingTable> embeddings,
      std::shared_ptr<const OutputProjection> output, const NetworkOptions& options);

  // What keeps the earlier tokens of a sentence's hypotheses.
  const History& history() const { return *history_; }

  HeadCounts heads() const { return {static_cast<int>(layers_.size()), heads_.heads}; }

  // Computes the keys and values of one encoded sentence [source tokens, d_model].  REQUIRES:
  // `encoded` has as many rows as `source` was made for.
  void Remember(MatrixView<const float> encoded, SourceMemory* source, Workspace* ws) const;

  // One step.  Row i of the logits passed to `sink` scores the tokens that may follow rows[i]; rows
  // that are not scored are left out.  REQUIRES: the rows were extended by a state of history();
  // tokens and shortlists are in the vocabulary, positions below max_positions.
  void Step(absl::Span<const DecodeRow> rows, LogitsSink sink, Workspace* ws) const;

 private:
  struct Layer {
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
  void DropUnread(absl::Span<const DecodeRow>* rows, MatrixView<float>* x, Workspace* ws) const;
  void ReportHeads(int l, absl::Span<const DecodeRow> rows, MatrixView<const float> q,
                   Workspace::AttendMemory* memory) const;
  void CrossAttention(int l, absl::Span<const DecodeRow> rows, MatrixView<float> x,
                      Workspace* ws) const;

  const int d_model_;
  const HeadShape heads_;
  const bool zero_start_;
  const int alignment_layer_;                   // whose attention is reported
  const std::vector<float> alignment_weights_;  // of its heads
  const Embedding embedding_;
  std::unique_ptr<const History> history_;
  std::vector<Layer> layers_;
  std::optional<Normalization> norm_;  // of the input of the output projection
  const std::shared_ptr<const OutputProjection> output_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_DECODER_H_
