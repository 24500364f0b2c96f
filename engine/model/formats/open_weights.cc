#include "engine/model/formats/open_weights.h"

#include "engine/model/formats/safetensors.h"

namespace dragoman {

absl::StatusOr<Checkpoint> OpenWeights(const std::string& directory) {
  return OpenSafetensors(directory + "/model.safetensors");
}

}  // namespace dragoman
