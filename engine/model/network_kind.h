// The available networks.  Each is named in ModelSpec::network and listed in CMakeLists.txt, so
// that the code that loads a model knows none of them.

#ifndef DRAGOMAN_ENGINE_MODEL_NETWORK_KIND_H_
#define DRAGOMAN_ENGINE_MODEL_NETWORK_KIND_H_

#include <memory>

#include "absl/status/statusor.h"
#include "engine/formats/checkpoint.h"
#include "engine/model/network.h"
#include "engine/spec/config.h"

namespace dragoman {

struct NetworkKind {
  const char* name;
  absl::StatusOr<std::unique_ptr<const Network>> (*create)(const Checkpoint& checkpoint,
                                                           const ModelSpec& spec,
                                                           const NetworkOptions& options);
};

// Reads and packs the weights of the network that the specification names.  NOT_FOUND or
// INVALID_ARGUMENT name a tensor.  REQUIRES: the network exists.
absl::StatusOr<std::unique_ptr<const Network>> CreateNetwork(const Checkpoint& checkpoint,
                                                             const ModelSpec& spec,
                                                             const NetworkOptions& options);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_NETWORK_KIND_H_
