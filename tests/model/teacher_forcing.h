// Runs a model's encoder and decoder on given tokens, without a search, to compare it with the
// reference and the goldens.

#ifndef DRAGOMAN_TESTS_MODEL_TEACHER_FORCING_H_
#define DRAGOMAN_TESTS_MODEL_TEACHER_FORCING_H_

#include <cstdint>
#include <vector>

#include "engine/model/model.h"
#include "tests/reference/transformer.h"

namespace dragoman {

struct ForcedPair {
  std::vector<int32_t> source;
  std::vector<int32_t> decoder_inputs;  // the first is the decoder start
};

struct ForcedOutput {
  reference::Matrix encoded;    // [source, d_model]
  reference::Matrix logits;     // [decoder_inputs, vocabulary]
  reference::Matrix attention;  // [decoder_inputs, source], if the network attends
};

// Encodes all pairs in one batch and decodes them together, one token of each pair per step until
// its tokens are used up.
std::vector<ForcedOutput> ForceTeacher(const Network& network,
                                       const std::vector<ForcedPair>& pairs);
std::vector<ForcedOutput> ForceTeacher(const Model& model, const std::vector<ForcedPair>& pairs);

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_MODEL_TEACHER_FORCING_H_
