// The sublayers that an encoder and a decoder are made of, each with the residual connection and
// the layer normalization around it: x = LayerNorm(x + Sublayer(x)) ("Attention Is All You Need",
// section 3.1; Marian normalizes after the sum, as the paper does).
//
// Tensors are read under the names that Hugging Face gives them in Marian, M2M100 and mBART
// checkpoints; a format with other names renames its tensors to these.

#ifndef DRAGOMAN_ENGINE_MODEL_LAYERS_H_
#define DRAGOMAN_ENGINE_MODEL_LAYERS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/model/checkpoint.h"
#include "engine/model/config.h"
#include "engine/model/linear.h"
#include "engine/model/workspace.h"

namespace dragoman {

// x = LayerNorm(x + y).  Immutable.
class AddNorm {
 public:
  // Reads PREFIX.weight and PREFIX.bias [d_model].
  static absl::StatusOr<AddNorm> Create(const Checkpoint& checkpoint, const std::string& prefix,
                                        int d_model);

  // Both are [rows, d_model].
  void Apply(MatrixView<const float> y, MatrixView<float> x, Workspace* ws) const;

 private:
  static constexpr float kEpsilon = 1e-5f;

  std::vector<float> gain_, bias_;
};

// x = LayerNorm(x + W2 activation(W1 x)): section 3.3, equation 2.  Immutable.
class FeedForward {
 public:
  // Reads PREFIX.fc1, PREFIX.fc2 and PREFIX.final_layer_norm.
  static absl::StatusOr<FeedForward> Create(const Checkpoint& checkpoint, const std::string& prefix,
                                            int d_model, int inner, Activation activation,
                                            Precision precision);

  void Apply(MatrixView<float> x, Workspace* ws) const;

 private:
  FeedForward(Linear inner, Linear outer, AddNorm norm)
      : inner_(std::move(inner)), outer_(std::move(outer)), norm_(std::move(norm)) {}

  Linear inner_;  // [d_model, ffn]
  Linear outer_;  // [ffn, d_model]
  AddNorm norm_;
};

// Reads the projections of an attention sublayer, PREFIX.{q,k,v}_proj.  Their outputs are
// interleaved (kernels.h, Attend), and the queries' has the 1 / sqrt(d_k) of equation 1 in it.
struct AttentionWeights {
  Weight q, k, v;  // each [d_model, d_model]
};
absl::StatusOr<AttentionWeights> ReadAttentionWeights(const Checkpoint& checkpoint,
                                                      const std::string& prefix, int d_model,
                                                      int heads);

// Reads PREFIX.out_proj, interleaves its inputs and packs it.
absl::StatusOr<Linear> ReadOutProjection(const Checkpoint& checkpoint, const std::string& prefix,
                                         int d_model, int heads, Precision precision);

// The embedding of every token, in float32 or, at half the size, bfloat16.  Immutable; shared by
// encoder and decoder where they have one vocabulary.
class EmbeddingTable {
 public:
  // Room for [vocabulary, d_model]; the content is unspecified until it is Set.
  EmbeddingTable(int vocabulary, int d_model, bool bfloat16);

  // The embeddings of the tokens first, first + 1, ...: only before the table is shared.
  void Set(int first, MatrixView<const float> embeddings);

  int vocabulary() const { return bfloat16_.rows() + float32_.rows(); }

  // out[i] += scale * the embedding's element i.  REQUIRES: 0 <= token < vocabulary().
  void AddTo(int32_t token, float scale, absl::Span<float> out) const;

 private:
  // One of them has [vocabulary, d_model], the other nothing.
  Matrix<float> float32_;
  Matrix<uint16_t> bfloat16_;
};

// Token embeddings with sinusoidal positions (sections 3.4 and 3.5).  Immutable.
class Embedding {
 public:
  // Positions are those of `PREFIX.embed_positions.weight` if the checkpoint has them, else
  // [sin(p w_i) | cos(p w_i)], w_i = 10000^(-2i / d_model), halves side by side as Marian lays
  // them.
  static absl::StatusOr<Embedding> Create(const Checkpoint& checkpoint, const std::string& prefix,
                                          std::shared_ptr<const EmbeddingTable> table,
                                          const ModelSpec& config);

  // Writes the embedding of `token` at `position` (from 0) into `row` [d_model].
  // REQUIRES: 0 <= token < vocabulary, 0 <= position < max_positions.
  void Embed(int32_t token, int position, absl::Span<float> row) const;

 private:
  std::shared_ptr<const EmbeddingTable> table_;
  Matrix<float> positions_;  // [max_positions, d_model]
  float scale_ = 1.0f;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_LAYERS_H_
