#include "server/grpc/model_service.h"

#include "server/api/list_models.h"
#include "server/grpc/grpc_door.h"

namespace dragoman {

grpc::ServerUnaryReactor* ModelService::ListModels(grpc::CallbackServerContext* context,
                                                   const v1::ListModelsRequest* request,
                                                   v1::ListModelsResponse* response) {
  Call call(parts_, "ListModels", CallerOf(*context));
  const absl::Status status = dragoman::ListModels(*parts_, &call, response);
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  reactor->Finish(ToGrpcStatus(call.End(status), context));
  return reactor;
}

grpc::ServerUnaryReactor* ModelService::GetModel(grpc::CallbackServerContext* context,
                                                 const v1::GetModelRequest* request,
                                                 v1::Model* response) {
  Call call(parts_, "GetModel", CallerOf(*context));
  const absl::Status status = dragoman::GetModel(*parts_, request->name(), &call, response);
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  reactor->Finish(ToGrpcStatus(call.End(status), context));
  return reactor;
}

}  // namespace dragoman
