// CTranslate2's model.bin: the name of a specification, and variables by name: weights, possibly as
// 8-bit or 16-bit integers with scales, and facts about the network as numbers of rank 0. The code
// here does not interpret the names, except that it translates those of the first files.

#ifndef DRAGOMAN_ENGINE_FORMATS_CTRANSLATE2_FILE_H_
#define DRAGOMAN_ENGINE_FORMATS_CTRANSLATE2_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "engine/formats/checkpoint.h"

namespace dragoman {

struct CTranslate2File {
  uint32_t version = 0;       // of the format: 1 to 6
  std::string specification;  // "TransformerSpec"; "" in version 1
  uint32_t revision = 0;      // of the specification
  // Integer weights come with their scales.  An alias is a tensor with the same bytes.
  Checkpoint variables;
};

// Maps the file.  NOT_FOUND if there is none; UNIMPLEMENTED for an unknown version or element type;
// INVALID_ARGUMENT, naming the variable, if the file is truncated or has extra bytes, or if a size,
// a scale, a type or an alias is impossible.
absl::StatusOr<CTranslate2File> OpenCTranslate2File(const std::string& path);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_FORMATS_CTRANSLATE2_FILE_H_
