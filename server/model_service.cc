#include "server/model_service.h"

#include "engine/base/status.h"
#include "server/convert.h"
#include "server/grpc_door.h"

namespace dragoman {

grpc::ServerUnaryReactor* ModelService::ListModels(grpc::CallbackServerContext* context,
                                                   const v1::ListModelsRequest* request,
                                                   v1::ListModelsResponse* response) {
  Call call(parts_, "ListModels", CallerOf(*context));
  const absl::Status admitted = call.Admit();
  if (admitted.ok()) {
    const std::shared_ptr<const ModelSet> models = parts_->models->Models();
    for (const ServedModel& model : models->models()) {
      Describe(model, &model == models->default_model(), response->add_models());
    }
  }
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  reactor->Finish(ToGrpcStatus(call.End(admitted), context));
  return reactor;
}

grpc::ServerUnaryReactor* ModelService::GetModel(grpc::CallbackServerContext* context,
                                                 const v1::GetModelRequest* request,
                                                 v1::Model* response) {
  Call call(parts_, "GetModel", CallerOf(*context));
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  reactor->Finish(ToGrpcStatus(call.End(Get(&call, request->name(), response)), context));
  return reactor;
}

absl::Status ModelService::Get(Call* call, const std::string& name, v1::Model* model) const {
  RETURN_IF_ERROR(call->Admit());
  const std::shared_ptr<const ModelSet> models = parts_->models->Models();
  ASSIGN_OR_RETURN(const ServedModel* const found, models->FindModel(name));
  call->set_translator(found->stable);
  Describe(*found, found == models->default_model(), model);
  return absl::OkStatus();
}

void ModelService::Describe(const ServedModel& served, bool is_default, v1::Model* model) const {
  if (served.stable != nullptr) {
    ToProto(served.stable->model(), parts_->models->limits(), model);
    model->set_state(parts_->gate->shut() ? v1::Model::STATE_DRAINING : v1::Model::STATE_READY);
  }
  ToProto(served, model);
  model->set_is_default(is_default);
}

}  // namespace dragoman
