// The safetensors file format (huggingface.co/docs/safetensors): eight bytes of header length, a
// JSON header with each tensor's dtype, shape and byte range, then the bytes.  The header is
// untrusted: every number in it is checked before it is used.

#ifndef DRAGOMAN_ENGINE_FORMATS_SAFETENSORS_H_
#define DRAGOMAN_ENGINE_FORMATS_SAFETENSORS_H_

#include <string>

#include "absl/status/statusor.h"
#include "engine/formats/checkpoint.h"

namespace dragoman {

// Maps the file.  NOT_FOUND if there is none; INVALID_ARGUMENT, naming the tensor, if the header
// lies about offsets, shapes, dtypes or sizes: a range outside of the file, a range whose size does
// not match the shape, ranges that overlap or leave a gap, an unknown dtype, a dimension that is
// zero, negative or so large that a product overflows, a name that occurs twice.
absl::StatusOr<Checkpoint> OpenSafetensors(const std::string& path);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_FORMATS_SAFETENSORS_H_
