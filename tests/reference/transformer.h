// A Transformer that reads like the paper: plain loops over plain vectors in float32, without
// caches or batches.  It is slow and obviously right; the engine is compared with it.
//
// Vaswani et al., "Attention Is All You Need" (2017), sections 3.1 to 3.5, in Marian's variant:
// layer normalization after every residual connection, a bias in every projection, and positions
// whose first half is sines and whose second half is cosines.

#ifndef DRAGOMAN_TESTS_REFERENCE_TRANSFORMER_H_
#define DRAGOMAN_TESTS_REFERENCE_TRANSFORMER_H_

#include <cstdint>
#include <vector>

#include "engine/spec/config.h"

namespace dragoman::reference {

using Vector = std::vector<float>;
using Matrix = std::vector<Vector>;  // one Vector per row

struct Linear {  // y = x W + b
  Matrix W;      // [inputs, outputs]
  Vector b;      // [outputs]
};

struct LayerNorm {
  Vector gain;
  Vector bias;
};

struct Attention {
  Linear q, k, v, out;
};

struct FeedForward {
  Linear inner, outer;
};

struct EncoderLayer {
  Attention self_attention;
  LayerNorm self_attention_norm;
  FeedForward feed_forward;
  LayerNorm feed_forward_norm;
};

struct DecoderLayer {
  Attention self_attention;
  LayerNorm self_attention_norm;
  Attention cross_attention;
  LayerNorm cross_attention_norm;
  FeedForward feed_forward;
  LayerNorm feed_forward_norm;
};

struct Weights {
  Matrix source_embedding;  // [source_vocabulary, d_model]
  Matrix target_embedding;  // [target_vocabulary, d_model]; also projects the output
  std::vector<EncoderLayer> encoder;
  std::vector<DecoderLayer> decoder;
  Vector output_bias;  // [target_vocabulary]
};

struct Transformer {
  ModelSpec config;
  Weights weights;
};

// Section 3.2.2: MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W^O.  Queries come from `x`, keys
// and values from `memory`; a head is a block of columns.  With `causal`, position t sees the
// positions up to t (section 3.2.3).
Matrix MultiHeadAttention(const Attention& attention, const Matrix& x, const Matrix& memory,
                          int heads, bool causal);

// The encoder's output [tokens, d_model].
Matrix Encode(const Transformer& model, const std::vector<int32_t>& tokens);

// The logits [tokens, target_vocabulary] after each of the decoder's input tokens, the first of
// which is the decoder start.
Matrix Logits(const Transformer& model, const Matrix& encoded, const std::vector<int32_t>& tokens);

// The last row of Logits.
Vector NextLogits(const Transformer& model, const Matrix& encoded,
                  const std::vector<int32_t>& tokens);

}  // namespace dragoman::reference

#endif  // DRAGOMAN_TESTS_REFERENCE_TRANSFORMER_H_
