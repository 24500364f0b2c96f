// NumPy's .npz: a zip with one .npy file per array (numpy.lib.format).  Marian NMT and Nematus
// store their models in it.

#ifndef DRAGOMAN_ENGINE_FORMATS_NPZ_H_
#define DRAGOMAN_ENGINE_FORMATS_NPZ_H_

#include <string>

#include "absl/status/statusor.h"
#include "engine/formats/checkpoint.h"

namespace dragoman {

// Maps the file; a compressed archive is unpacked while it is opened (unpacked_zip.h).  Tensors
// have the names of the files, without .npy.  A scalar has the shape [1].  Empty arrays, and those
// of a type that a tensor cannot have (pickled objects), are left out.  NOT_FOUND if there is no
// such file; INVALID_ARGUMENT, naming the array, if it is not a zip, or if a header is malformed or
// does not match its file.
absl::StatusOr<Checkpoint> OpenNpz(const std::string& path);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_FORMATS_NPZ_H_
