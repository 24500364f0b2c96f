// What operators may do to a running server (admin.proto), for any transport.  Permit::MayCall
// judges who is an operator; the log has a line for each call and one for each change.

#ifndef DRAGOMAN_SERVER_API_ADMIN_H_
#define DRAGOMAN_SERVER_API_ADMIN_H_

#include <functional>

#include "dragoman/v1/admin.pb.h"
#include "server/api/call.h"

namespace dragoman {

// What the methods act on.  None of it may block.
struct AdminActions {
  // The model is one of the configuration's.
  std::function<void(const std::string&model)> load, unload, pin, unpin;
  std::function<void()> drain;
};

// The methods, as UnaryMethod, but with the actions.
template <typename Request, typename Response>
using AdminMethod = absl::StatusOr<Response>(absl::FunctionRef<absl::StatusOr<Request>()> parse,
                                             const ServerParts& parts, const AdminActions& actions,
                                             Call* call);

AdminMethod<v1::ListModelsRequest, v1::ListModelsResponse> AdminListModels;
AdminMethod<v1::LoadModelRequest, v1::LoadModelResponse> LoadModel;
AdminMethod<v1::UnloadModelRequest, v1::UnloadModelResponse> UnloadModel;
AdminMethod<v1::PinModelRequest, v1::PinModelResponse> PinModel;
AdminMethod<v1::UnpinModelRequest, v1::UnpinModelResponse> UnpinModel;
AdminMethod<v1::SetLogLevelRequest, v1::SetLogLevelResponse> SetLogLevel;
AdminMethod<v1::DrainRequest, v1::DrainResponse> Drain;

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_ADMIN_H_
