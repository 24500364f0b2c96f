#include "server/grpc/model_service.h"

#include "server/api/list_models.h"
#include "server/grpc/raw_message.h"

namespace dragoman {
namespace {

template <typename Message>
grpc::ServerUnaryReactor* Answer(const CallEnd& end, const absl::StatusOr<Message>& answer,
                                 grpc::CallbackServerContext* context, grpc::ByteBuffer* response) {
  return new AnsweredCall(end, answer.ok() ? *answer : Message(), context, response);
}

}  // namespace

grpc::ServerUnaryReactor* ModelService::ListModels(grpc::CallbackServerContext* context,
                                                   const grpc::ByteBuffer* request,
                                                   grpc::ByteBuffer* response) {
  Call call(parts_, "ListModels", CallerOf(*context));
  const absl::StatusOr<v1::ListModelsResponse> models = dragoman::ListModels(
      [&] { return ReadMessage<v1::ListModelsRequest>(*request, parts_->max_message_bytes); },
      *parts_, &call);
  return Answer(call.End(models.status()), models, context, response);
}

grpc::ServerUnaryReactor* ModelService::GetModel(grpc::CallbackServerContext* context,
                                                 const grpc::ByteBuffer* request,
                                                 grpc::ByteBuffer* response) {
  Call call(parts_, "GetModel", CallerOf(*context));
  const absl::StatusOr<v1::Model> model = dragoman::GetModel(
      [&] { return ReadMessage<v1::GetModelRequest>(*request, parts_->max_message_bytes); },
      *parts_, &call);
  return Answer(call.End(model.status()), model, context, response);
}

}  // namespace dragoman
