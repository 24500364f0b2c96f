// Finds the weights of a model directory, in whatever format they come.

#ifndef DRAGOMAN_ENGINE_MODEL_FORMATS_OPEN_WEIGHTS_H_
#define DRAGOMAN_ENGINE_MODEL_FORMATS_OPEN_WEIGHTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "engine/model/checkpoint.h"

namespace dragoman {

// The tensors under the names that the files give them.  NOT_FOUND if there are none.
absl::StatusOr<Checkpoint> OpenWeights(const std::string& directory);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_FORMATS_OPEN_WEIGHTS_H_
