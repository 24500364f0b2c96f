// The naive Transformer once more, for every ModelSpec: pre- and post-norm, layer and root mean
// square norms, gated feed-forward layers, learned and relative positions, tables tied or not.  In
// double precision, nothing cached; each equation once and by the names of the papers.  Tensors are
// looked up by their canonical names (engine/families/model_directory.h).

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

// Random tensors, all that a model of this specification has; the same for the same seed.
NamedWeights RandomWeights(const ModelSpec& spec, uint64_t seed);

using Rows = std::vector<std::vector<double>>;

Rows EncodeAny(const NamedWeights& model, const std::vector<int32_t>& tokens);
// The logits of what follows each of the decoder's input tokens.  `attention`, unless it is null,
// is given how each input token's attention to the source is spread, the mean of all heads of the
// layer that the specification's alignment names.
Rows LogitsOfAny(const NamedWeights& model, const Rows& encoded, const std::vector<int32_t>& tokens,
                 Rows* attention = nullptr);

}  // namespace dragoman::reference

#endif  // DRAGOMAN_TESTS_REFERENCE_ANY_TRANSFORMER_H_
