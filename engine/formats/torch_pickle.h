// What torch.save writes about the tensors of a model, read without running any of it.
//
// A pickle is a program for a small machine with a stack: "push this string", "make a tuple of what
// lies above the mark", and also "import this function and call it", which is how a pickle takes
// over a process.  This reader knows the steps that a dictionary of tensors takes.  Functions are
// names to it, and of those it knows only the ones that describe a tensor; any other is refused.

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

// A tensor as the pickle describes it: a view of a storage, whose bytes lie elsewhere in the file.
// Every number is as the file has it, which may lie.
struct TorchTensor {
  std::string name;
  DType dtype = DType::kF32;
  std::string storage;           // its key
  int64_t storage_elements = 0;  // of the whole storage
  int64_t offset = 0;            // of the first element, in elements
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // in elements; as many as dimensions
};

// Reads one pickle from the front of *bytes and removes it from there.  Each of them is
// INVALID_ARGUMENT, saying why, if it is not what is wanted; a function or class that describes no
// tensor is refused by its name.

// A dictionary from names to tensors; what else it holds is left out.
absl::StatusOr<std::vector<TorchTensor>> ReadTensorPickle(absl::Span<const std::byte>* bytes);
// A list of strings: the keys of the storages.
absl::StatusOr<std::vector<std::string>> ReadKeysPickle(absl::Span<const std::byte>* bytes);
// Any value; for what does not matter.
absl::Status SkipPickle(absl::Span<const std::byte>* bytes);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_FORMATS_TORCH_PICKLE_H_
