// pytorch_model.bin: a dictionary of tensors as torch.save writes it.  Since PyTorch 1.6 it is a
// zip with a pickle (data.pkl) and a stored file for each storage; before, one file with five
// pickles in a row, followed by the storages.  No code in a pickle is run (torch_pickle.h), and
// tensors are read in place.

#ifndef DRAGOMAN_ENGINE_FORMATS_TORCH_FILE_H_
#define DRAGOMAN_ENGINE_FORMATS_TORCH_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "engine/formats/checkpoint.h"

namespace dragoman {

// Maps the file.  NOT_FOUND if there is none; INVALID_ARGUMENT, naming the tensor or the function,
// if the file has neither format, is truncated, holds something other than tensors, or has a tensor
// outside of its storage, with overlapping elements, or of the wrong size.
absl::StatusOr<Checkpoint> OpenTorchFile(const std::string& path);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_FORMATS_TORCH_FILE_H_
