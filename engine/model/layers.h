// The sublayers that an encoder and a decoder are made of, each in its residual connection
// ("Attention Is All You Need", section 3.1).  The norm stands after the sum, as in the paper, or
// before the sublayer.
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
#include "engine/model/checkpoint.h"
#include "engine/model/config.h"
#include "engine/model/embedding_table.h"
#include "engine/model/linear.h"
#include "engine/model/workspace.h"

namespace dragoman {

// The norm of a model, with its parameters.  Immutable.
class Normalization {
 public:
  // Reads PREFIX.weight and, unless it is a root mean square norm, PREFIX.bias [d_model].
  static absl::StatusOr<Normalization> Create(const Checkpoint& checkpoint,
                                              const std::string& prefix, const ModelSpec& spec);

  // All are [rows, d_model].
  void Apply(MatrixView<const float> x, MatrixView<float> out,
             Workspace* ws) const;  // out = norm(x)
  void AddAndApply(MatrixView<const float> y, MatrixView<float> x, Workspace* ws) const;

 private:
  Norm norm_ = Norm::kLayer;
  float epsilon_ = 0.0f;
  std::vector<float> gain_, bias_;
};

// The residual connection around a sublayer f: x = norm(x + f(x)), or x = x + f(norm(x)).
// Immutable.
//
//   y = f(residual.Enter(x, ws));
//   residual.Leave(y, x, ws);
class Residual {
 public:
  // Reads the norm of that prefix.
  static absl::StatusOr<Residual> Create(const Checkpoint& checkpoint, const std::string& prefix,
                                         const ModelSpec& spec);

  // What the sublayer is to read: x or, in the workspace until the next Enter, its norm.
  MatrixView<const float> Enter(MatrixView<const float> x, Workspace* ws) const;
  // Adds what the sublayer gave.
  void Leave(MatrixView<const float> y, MatrixView<float> x, Workspace* ws) const;

 private:
  Normalization norm_;
  bool before_ = false;
};

// W2 activation(W1 x), or W2 (activation(W1 x) * (W3 x)), in its residual connection: section 3.3,
// equation 2.  Immutable.
class FeedForward {
 public:
  // Reads PREFIX.fc1, PREFIX.fc2, PREFIX.final_layer_norm and, if it is gated, PREFIX.fc1_linear.
  static absl::StatusOr<FeedForward> Create(const Checkpoint& checkpoint, const std::string& prefix,
                                            int inner, const ModelSpec& spec,
                                            Arithmetic arithmetic);

  void Apply(MatrixView<float> x, Workspace* ws) const;

 private:
  FeedForward(Linear inner, Linear outer, Residual residual)
      : inner_(std::move(inner)), outer_(std::move(outer)), residual_(std::move(residual)) {}

  Linear inner_;  // [d_model, ffn], or [d_model, 2 ffn] if it is gated
  Linear outer_;  // [ffn, d_model]
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

// Reads the projections of an attention sublayer, PREFIX.{q,k,v}_proj.  Their outputs are
// interleaved (attend.h), and the queries' has the 1 / sqrt(d_k) of equation 1 in it.
struct AttentionWeights {
  Weight q, k, v;  // each [d_model, width]
};
absl::StatusOr<AttentionWeights> ReadAttentionWeights(const Checkpoint& checkpoint,
                                                      const std::string& prefix, HeadShape heads,
                                                      const ModelSpec& spec);

// Reads PREFIX.out_proj, interleaves its inputs and packs it.
absl::StatusOr<Linear> ReadOutProjection(const Checkpoint& checkpoint, const std::string& prefix,
                                         HeadShape heads, const ModelSpec& spec,
                                         Arithmetic arithmetic);

// Token embeddings with their positions (sections 3.4 and 3.5).  Immutable.
class Embedding {
 public:
  // Positions are those of `PREFIX.embed_positions.weight` if the checkpoint has them, else those
  // that the specification asks for.
  static absl::StatusOr<Embedding> Create(const Checkpoint& checkpoint, const std::string& prefix,
                                          std::shared_ptr<const EmbeddingTable> table,
                                          const ModelSpec& spec);

  // Writes the embedding of `token` at `position` (from 0) into `row` [d_model].
  // REQUIRES: 0 <= token < vocabulary, 0 <= position < max_positions.
  void Embed(int32_t token, int position, absl::Span<float> row) const;
  // The same without a token: the position alone.
  void EmbedPosition(int position, absl::Span<float> row) const;
  // Normalizes rows that are embedded, if the model does so.
  void Finish(MatrixView<float> x, Workspace* ws) const;

 private:
  std::shared_ptr<const EmbeddingTable> table_;
  Matrix<float> positions_;  // [max_positions, d_model], or nothing
  std::optional<Normalization> norm_;
  float scale_ = 1.0f;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_LAYERS_H_
