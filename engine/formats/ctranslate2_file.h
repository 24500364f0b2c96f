// CTranslate2's model.bin: the name of a specification, and variables by name: weights, possibly as
// 8 or 16 bit integers with their scales, and facts about the network as numbers of rank 0.  What
// the names mean is not known here.

#ifndef DRAGOMAN_ENGINE_FORMATS_CTRANSLATE2_FILE_H_
#define DRAGOMAN_ENGINE_FORMATS_CTRANSLATE2_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "engine/formats/checkpoint.h"

namespace dragoman {

struct CTranslate2File {
  uint32_t version = 0;       // of the format: 2 to 6
  std::string specification;  // "TransformerSpec"
  uint32_t revision = 0;      // of the specification
  // Weights of integers have their scales with them.  An alias is a tensor with the same bytes.
  Checkpoint variables;
};

// Maps the file.  NOT_FOUND if there is none; UNIMPLEMENTED for a version or a type of numbers that
// is not known; INVALID_ARGUMENT, naming the variable, if the file is cut off or goes on, or if a
// size, a scale, a type or an alias in it cannot be.
absl::StatusOr<CTranslate2File> OpenCTranslate2File(const std::string& path);

// Reads the file's first fields alone: whether it says that it is one.
bool IsCTranslate2File(absl::Span<const std::byte> bytes);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_FORMATS_CTRANSLATE2_FILE_H_
