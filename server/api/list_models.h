// Lists the served models, for any transport.

#ifndef DRAGOMAN_SERVER_API_LIST_MODELS_H_
#define DRAGOMAN_SERVER_API_LIST_MODELS_H_

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "dragoman/v1/translation.pb.h"
#include "server/api/call.h"

namespace dragoman {

// The served models, for a call that has been admitted.
v1::ListModelsResponse ListedModels(const ServerParts& parts);

// Both admit the call before they read its request, and also answer while the server drains.
absl::StatusOr<v1::ListModelsResponse> ListModels(
    absl::FunctionRef<absl::StatusOr<v1::ListModelsRequest>()> parse, const ServerParts& parts,
    Call* call);
// NOT_FOUND if no model has that name; the default one if it is empty.
absl::StatusOr<v1::Model> GetModel(absl::FunctionRef<absl::StatusOr<v1::GetModelRequest>()> parse,
                                   const ServerParts& parts, Call* call);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_LIST_MODELS_H_
