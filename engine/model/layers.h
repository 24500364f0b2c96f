// The sublayers of encoders and decoders, each with its residual connection ("Attention Is All You
// Need", section 3.1).  The norm comes after the sum, as in the paper, or before the sublayer.
//
// Tensors are read under canonical names (model_directory.h).

#ifndef DRAGOMAN_ENGINE_MODEL_LAYERS_H_
#define DRAGOMAN_ENGINE_MODEL_LAYERS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/formats/checkpoint.h"
#include "engine/model/embedding_table.h"
#include "engine/model/linear.h"
#include "engine/model/residual.h"
#include "engine/model/workspace.h"
#include "engine/spec/config.h"

namespace dragoman {

// W2 activation(W1 x), or W2 (activation(W1 x) * (W3 x)), with its residual connection: section
// 3.3, equation 2.  There may be more layers like the first between the two.  Immutable.
class FeedForward {
 public:
  struct Shape {
    int inner = 0;
    int layers = 2;
  };

  // Reads PREFIX.fc1 (unless there is only one layer), PREFIX.fc1_2 and so on, PREFIX.fc2, the
  // steps around PREFIX.final (residual.h) and, if it is gated, PREFIX.fc1_linear.
  static absl::StatusOr<FeedForward> Create(const Checkpoint& checkpoint, const std::string& prefix,
                                            Shape shape, const ModelSpec& spec,
                                            Arithmetic arithmetic);

  void Apply(MatrixView<float> x, Workspace* ws) const;

 private:
  FeedForward(Linear outer, Residual residual)
      : outer_(std::move(outer)), residual_(std::move(residual)) {}

  std::vector<Linear> inner_;  // the first [d_model, ffn], or [d_model, 2 ffn] if it is gated
  Linear outer_;               // [ffn, d_model]
  Residual residual_;
  bool gated_ = false;
  Activation activation_ = Activation::kNone;  // of a gated layer; else it is in inner_
};

// The heads of an attention sublayer.
struct HeadShape {
  int heads = 0;
  int head_width = 0;

  int width() const { return heads * head_width; }
};

// The projections of an attention sublayer, PREFIX.{q,k,v}_proj, in this order, each [d_model,
// width].  Their outputs are interleaved (attend.h), and the 1 / sqrt(d_k) of equation 1 is folded
// into the queries'.
absl::StatusOr<std::vector<Weight>> ReadAttentionWeights(const Checkpoint& checkpoint,
                                                         const std::string& prefix, HeadShape heads,
                                                         const ModelSpec& spec);

// Reads PREFIX.out_proj, interleaves its inputs and packs it.
absl::StatusOr<Linear> ReadOutProjection(const Checkpoint& checkpoint, const std::string& prefix,
                                         HeadShape heads, const ModelSpec& spec,
                                         Arithmetic arithmetic);

// Self-attention's projections, PREFIX.{q,k,v,out}_proj, and its residual connection.
struct SelfAttentionLayer {
  static absl::StatusOr<SelfAttentionLayer> Create(const Checkpoint& checkpoint,
                                                   const std::string& prefix, HeadShape heads,
                                                   const ModelSpec& spec, Arithmetic arithmetic);

  Linear qkv;  // [d_model, 3 width]
  Linear out;  // [width, d_model]
  Residual residual;
};

// Token embeddings with their positions (sections 3.4 and 3.5).  Immutable.
class Embedding {
 public:
  // Uses the positions of `PREFIX.embed_positions.weight` if the checkpoint has them, or else those
  // that the specification asks for.
  static absl::StatusOr<Embedding> Create(const Checkpoint& checkpoint, const std::string& prefix,
                                          std::shared_ptr<const EmbeddingTable> table,
                                          const ModelSpec& spec);

  // Writes the embedding of `token` at `position` (from 0) into `row` [d_model].
  // REQUIRES: 0 <= token < vocabulary, 0 <= position < max_positions.
  void Embed(int32_t token, int position, absl::Span<float> row) const;
  // Writes only what the position adds, for a position without a token.
  void EmbedPosition(int position, absl::Span<float> row) const;
  // Normalizes embedded rows, if the model does so.
  void Finish(MatrixView<float> x, Workspace* ws) const;

 private:
  std::shared_ptr<const EmbeddingTable> table_;
  std::shared_ptr<const Matrix<float>> positions_;  // [max_positions, d_model], or null
  std::optional<Normalization> norm_;
  float scale_ = 1.0f;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_LAYERS_H_
