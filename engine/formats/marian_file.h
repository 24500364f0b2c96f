// Marian NMT's binary models (model.bin): float32, float16, and 8 bits as the product library
// intgemm has them, as marian-conv writes them and as Bergamot and Firefox are given them.

#ifndef DRAGOMAN_ENGINE_FORMATS_MARIAN_FILE_H_
#define DRAGOMAN_ENGINE_FORMATS_MARIAN_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "engine/formats/checkpoint.h"

namespace dragoman {

// Whether there is a file at `path` that begins as one of these does.
bool IsMarianFile(const std::string& path);

// Maps the file.  A matrix in 8 bits has the shape that the file says, [inputs, outputs], and one
// scale, wherever its elements lie.  NOT_FOUND if there is no such file; UNIMPLEMENTED, naming the
// tensor, for a type that is made for one kind of CPU (convert the model anew from model.npz);
// INVALID_ARGUMENT if the file is malformed or cut off.
absl::StatusOr<Checkpoint> OpenMarianFile(const std::string& path);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_FORMATS_MARIAN_FILE_H_
