// Any bytes as the pickle in a pytorch_model.bin.  (Mutations of the whole zip seldom get so far.)

#include "engine/formats/torch_pickle.h"
#include "tests/fuzz/fuzzer.h"

FUZZER(torch_pickle) {
  const absl::Span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  absl::Span<const std::byte> rest = bytes;
  const auto tensors = dragoman::ReadTensorPickle(&rest);
  if (tensors.ok()) {
    for (const dragoman::TorchTensor& tensor : *tensors) {
      FUZZ_CHECK(tensor.shape.size() == tensor.strides.size());
    }
  }
  rest = bytes;
  (void)dragoman::ReadKeysPickle(&rest);
  FUZZ_CHECK(rest.size() <= size);
}
