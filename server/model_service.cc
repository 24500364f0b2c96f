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
    for (const auto& translator : parts_->models->translators()) {
      Describe(*translator, response->add_models());
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
  ASSIGN_OR_RETURN(const std::shared_ptr<const Translator> translator, parts_->models->Find(name));
  call->set_translator(translator);
  Describe(*translator, model);
  return absl::OkStatus();
}

void ModelService::Describe(const Translator& translator, v1::Model* model) const {
  ToProto(translator.model(), parts_->models->limits(), model);
  model->set_is_default(&translator == parts_->models->default_translator().get());
  model->set_state(parts_->gate->shut() ? v1::Model::STATE_DRAINING : v1::Model::STATE_READY);
}

}  // namespace dragoman
