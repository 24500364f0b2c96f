// A second naive Transformer, for every ModelSpec: pre- and post-norm, layer and root mean square
// norms, gated feed-forward layers, learned and relative positions, tied tables or not.  It
// computes in double precision without caches; each equation appears once, with the names of the
// papers.  Tensors have their canonical names (engine/families/model_directory.h).

#ifndef DRAGOMAN_TESTS_REFERENCE_ANY_TRANSFORMER_H_
#define DRAGOMAN_TESTS_REFERENCE_ANY_TRANSFORMER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/spec/config.h"

namespace dragoman::reference {

struct NamedWeights {
  struct Tensor {
    int rows = 1, cols = 0;
    std::vector<float> values;  // row-major
  };
  ModelSpec spec;
  std::map<std::string, Tensor> tensors;
};

// Whether a sublayer normalizes its input as well as its output, and so has two norms.
bool NormedTwice(const ModelSpec& spec);

using Rows = std::vector<std::vector<double>>;

// How each head of a stack spreads its attention: [layer][head], rows that look x rows looked at.
using HeadRows = std::vector<std::vector<Rows>>;

Rows EncodeAny(const NamedWeights& model, const std::vector<int32_t>& tokens);
Rows EncodeAny(const NamedWeights& model, const std::vector<int32_t>& tokens, HeadRows* heads);
// The logits after each of the decoder's input tokens.  Unless `attention` is null, it receives the
// attention of each input token to the source: the mean over all heads of the layer that the
// specification names for alignments.
Rows LogitsOfAny(const NamedWeights& model, const Rows& encoded, const std::vector<int32_t>& tokens,
                 Rows* attention = nullptr);
// With the attention of each head, to the source and to the tokens up to each one, besides.
Rows LogitsOfAny(const NamedWeights& model, const Rows& encoded, const std::vector<int32_t>& tokens,
                 Rows* attention, HeadRows* heads, HeadRows* decoder_heads);

}  // namespace dragoman::reference

#endif  // DRAGOMAN_TESTS_REFERENCE_ANY_TRANSFORMER_H_
