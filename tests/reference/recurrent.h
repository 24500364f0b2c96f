// The naive recurrent encoder-decoder with attention (Bahdanau et al. 2015, appendix A), in double
// precision: each equation once, nothing batched, nothing cached.  Tensors have the names of Marian
// NMT (engine/model/recurrent.cc).

#ifndef DRAGOMAN_TESTS_REFERENCE_RECURRENT_H_
#define DRAGOMAN_TESTS_REFERENCE_RECURRENT_H_

#include <cstdint>
#include <vector>

#include "tests/reference/any_transformer.h"

namespace dragoman::reference {

// Random tensors, all that a model of this specification has, whose details are a RecurrentSpec;
// `normed`: with layer normalization.
NamedWeights RandomRecurrent(const ModelSpec& spec, bool normed, uint64_t seed);

// A row for each source token: what was read up to it, and, backwards, from it.
Rows EncodeRecurrent(const NamedWeights& model, const std::vector<int32_t>& tokens);

// The logits of what follows each of the decoder's input tokens, and how its attention is spread.
Rows LogitsOfRecurrent(const NamedWeights& model, const Rows& encoded,
                       const std::vector<int32_t>& tokens, Rows* attention);

}  // namespace dragoman::reference

#endif  // DRAGOMAN_TESTS_REFERENCE_RECURRENT_H_
