// A naive recurrent encoder-decoder with attention (Bahdanau et al. 2015, appendix A) in double
// precision: each equation appears once, and nothing is batched or cached.  Tensors have Marian
// NMT's names (engine/model/recurrent.cc).

#ifndef DRAGOMAN_TESTS_REFERENCE_RECURRENT_H_
#define DRAGOMAN_TESTS_REFERENCE_RECURRENT_H_

#include <cstdint>
#include <vector>

#include "tests/reference/any_transformer.h"

namespace dragoman::reference {

// A row for each source token: the forward state and the backward state after reading it.
Rows EncodeRecurrent(const NamedWeights& model, const std::vector<int32_t>& tokens);

// The logits after each of the decoder's input tokens, and the attention of these tokens.
Rows LogitsOfRecurrent(const NamedWeights& model, const Rows& encoded,
                       const std::vector<int32_t>& tokens, Rows* attention);

}  // namespace dragoman::reference

#endif  // DRAGOMAN_TESTS_REFERENCE_RECURRENT_H_
