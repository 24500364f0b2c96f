// Lists the served models, for any transport.

#ifndef DRAGOMAN_SERVER_API_LIST_MODELS_H_
#define DRAGOMAN_SERVER_API_LIST_MODELS_H_

#include <string>

#include "dragoman/v1/translation.pb.h"
#include "server/api/call.h"

namespace dragoman {

// The served models that the caller may use.
v1::ListModelsResponse ListedModels(const ServerParts& parts, const Permit& permit);

// NOT_FOUND if no model has that name, PERMISSION_DENIED if the caller may not use it; the default
// one if it is empty.  REQUIRES: the call is admitted.
absl::StatusOr<v1::Model> NamedModel(const std::string& name, Call* call);

// Both also answer while the server drains.
AnswerMethod<v1::ListModelsRequest, v1::ListModelsResponse> ListModels;
AnswerMethod<v1::GetModelRequest, v1::Model> GetModel;

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_LIST_MODELS_H_
