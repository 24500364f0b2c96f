// Reads every tensor of a checkpoint, so that a sanitizer notices one that is outside of its file.

#ifndef DRAGOMAN_TESTS_FUZZ_READ_ALL_H_
#define DRAGOMAN_TESTS_FUZZ_READ_ALL_H_

#include "engine/formats/checkpoint.h"
#include "tests/fuzz/fuzzer.h"

namespace dragoman {

inline void ReadAll(const Checkpoint& checkpoint) {
  for (const auto& [name, tensor] : checkpoint.tensors()) {
    uint64_t elements = 1;
    for (const int64_t dimension : tensor.shape) {
      FUZZ_CHECK(dimension > 0);
      elements *= static_cast<uint64_t>(dimension);
    }
    FUZZ_CHECK(tensor.bytes.size() == elements * SizeOf(tensor.dtype));
    FUZZ_CHECK(!tensor.transposed || tensor.shape.size() == 2);
    // Tensors with other types than weights are refused, and so are numbers that are not finite.
    if (tensor.shape.size() == 2) {
      (void)checkpoint.ReadMatrix(name, static_cast<int>(tensor.shape[0]),
                                  static_cast<int>(tensor.shape[1]));
    } else if (tensor.shape.size() == 1) {
      (void)checkpoint.ReadVector(name, static_cast<int>(tensor.shape[0]));
    }
  }
}

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_FUZZ_READ_ALL_H_
