// Reads what torch.save writes about the tensors of a model, without running any of it.
//
// A pickle is a program for a small stack machine: "push this string", "make a tuple of everything
// above the mark", and also "import this function and call it", which is how a pickle takes over a
// process.  This reader knows only the instructions that a dictionary of tensors needs.  It treats
// functions as mere names, accepts only those that describe a tensor, and refuses all others.

#ifndef DRAGOMAN_ENGINE_FORMATS_TORCH_PICKLE_H_
#define DRAGOMAN_ENGINE_FORMATS_TORCH_PICKLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/formats/checkpoint.h"

namespace dragoman {

// A tensor as the pickle describes it: a view of a storage, whose bytes are elsewhere in the file.
// All numbers are as in the file and may be wrong.
struct TorchTensor {
  std::string name;
  DType dtype = DType::kF32;
  std::string storage;           // its key
  int64_t storage_elements = 0;  // of the whole storage
  int64_t offset = 0;            // of the first element, in elements
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // in elements; as many as dimensions
};

// Each function reads one pickle from the front of *bytes and removes it from there.
// INVALID_ARGUMENT, with the reason, if it is not what was expected; a function or class that does
// not describe a tensor is refused by name.

// A dictionary from names to tensors; other entries are left out.
absl::StatusOr<std::vector<TorchTensor>> ReadTensorPickle(absl::Span<const std::byte>* bytes);
// A list of strings: the keys of the storages.
absl::StatusOr<std::vector<std::string>> ReadKeysPickle(absl::Span<const std::byte>* bytes);
// Any value; for pickles that do not matter.
absl::Status SkipPickle(absl::Span<const std::byte>* bytes);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_FORMATS_TORCH_PICKLE_H_
