// Random tensors for the naive models; the same for the same seed.

#ifndef DRAGOMAN_TESTS_REFERENCE_RANDOM_WEIGHTS_H_
#define DRAGOMAN_TESTS_REFERENCE_RANDOM_WEIGHTS_H_

#include <cstdint>

#include "tests/reference/any_transformer.h"

namespace dragoman::reference {

// For a Transformer of this specification.
NamedWeights RandomWeights(const ModelSpec& spec, uint64_t seed);

// For a specification that has a RecurrentSpec; with layer normalization if `normed`.
NamedWeights RandomRecurrent(const ModelSpec& spec, bool normed, uint64_t seed);

}  // namespace dragoman::reference

#endif  // DRAGOMAN_TESTS_REFERENCE_RANDOM_WEIGHTS_H_
