// A Hugging Face Marian directory (OPUS-MT): config.json, generation_config.json and the names that
// its checkpoint gives to the weights.

#ifndef DRAGOMAN_ENGINE_MODEL_FORMATS_MARIAN_H_
#define DRAGOMAN_ENGINE_MODEL_FORMATS_MARIAN_H_

#include <string>

#include "absl/status/statusor.h"
#include "engine/model/config.h"

namespace dragoman {

struct MarianConfig {
  ModelConfig model;
  GenerationConfig generation;
  bool share_embeddings = true;  // one table for source, target and output projection
};

// Reads config.json and, if there is one, generation_config.json from a directory; values that the
// latter does not give are taken from the former (older checkpoints keep them there), then
// Hugging Face's defaults.  NOT_FOUND if config.json is missing; INVALID_ARGUMENT, naming the
// field, the value and what was wanted, if one is malformed or out of range; UNIMPLEMENTED, naming
// the architecture or option, if this engine does not know it.
absl::StatusOr<MarianConfig> ReadMarianConfig(const std::string& directory);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_FORMATS_MARIAN_H_
