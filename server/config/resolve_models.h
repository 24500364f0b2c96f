// The part of the configuration that says which models are served.

#ifndef DRAGOMAN_SERVER_CONFIG_RESOLVE_MODELS_H_
#define DRAGOMAN_SERVER_CONFIG_RESOLVE_MODELS_H_

#include "absl/status/status.h"
#include "server/config/config.h"

namespace dragoman {

// Sets the models, the default model, the pivot, the shortlists and the canaries.  INVALID_ARGUMENT
// names the setting that is wrong; models are not loaded here.
absl::Status ResolveModels(const v1::ServerConfig& config, ServerOptions* options);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_CONFIG_RESOLVE_MODELS_H_
