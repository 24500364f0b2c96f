// Lists the served models, for any transport.

#ifndef DRAGOMAN_SERVER_API_LIST_MODELS_H_
#define DRAGOMAN_SERVER_API_LIST_MODELS_H_

#include <string>

#include "absl/status/status.h"
#include "dragoman/v1/translation.pb.h"
#include "server/api/call.h"

namespace dragoman {

// Both admit the call first, and also answer while the server drains.
absl::Status ListModels(const ServerParts& parts, Call* call, v1::ListModelsResponse* response);
// NOT_FOUND if no model has that name; the default one if it is empty.
absl::Status GetModel(const ServerParts& parts, const std::string& name, Call* call,
                      v1::Model* model);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_LIST_MODELS_H_
