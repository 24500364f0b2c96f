// NumPy's .npz: a zip with a .npy file for each array (numpy.lib.format), which Marian NMT and
// Nematus keep their models in.

#ifndef DRAGOMAN_ENGINE_FORMATS_NPZ_H_
#define DRAGOMAN_ENGINE_FORMATS_NPZ_H_

#include <string>

#include "absl/status/statusor.h"
#include "engine/formats/checkpoint.h"

namespace dragoman {

// Maps the file; an archive that is compressed is unpacked meanwhile (unpacked_zip.h).  Tensors are
// called as the files are, without .npy.  A number on its own is [1]; what is empty, or of no type
// that a tensor can have (pickled objects), is left out.  NOT_FOUND if there is no such file;
// INVALID_ARGUMENT, naming the array, if it is no zip, or if a header is malformed or does not fit
// its file.
absl::StatusOr<Checkpoint> OpenNpz(const std::string& path);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_FORMATS_NPZ_H_
