// Marian NMT's binary models (model.bin): float32, float16, and the 8 bits of the library intgemm,
// as marian-conv writes them and as Bergamot and Firefox ship them.

#ifndef DRAGOMAN_ENGINE_FORMATS_MARIAN_FILE_H_
#define DRAGOMAN_ENGINE_FORMATS_MARIAN_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "engine/formats/checkpoint.h"

namespace dragoman {

// Whether the file at `path` starts like one of these.
bool IsMarianFile(const std::string& path);

// Maps the file.  A matrix in 8 bits has the shape that the file gives, [inputs, outputs], and one
// scale, whichever way its elements are ordered.  NOT_FOUND if there is no such file;
// UNIMPLEMENTED, naming the tensor, for a type that is made for one kind of CPU (convert the model
// again from model.npz); INVALID_ARGUMENT if the file is malformed or truncated.
absl::StatusOr<Checkpoint> OpenMarianFile(const std::string& path);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_FORMATS_MARIAN_FILE_H_
