#include "server/grpc/model_service.h"

#include "server/api/list_models.h"
#include "server/grpc/raw_message.h"

namespace dragoman {

grpc::ServerUnaryReactor* ModelService::ListModels(grpc::CallbackServerContext* context,
                                                   const grpc::ByteBuffer* request,
                                                   grpc::ByteBuffer* response) {
  return AnswerMethod("ListModels", dragoman::ListModels, *parts_, context, *request, response);
}

grpc::ServerUnaryReactor* ModelService::GetModel(grpc::CallbackServerContext* context,
                                                 const grpc::ByteBuffer* request,
                                                 grpc::ByteBuffer* response) {
  return AnswerMethod("GetModel", dragoman::GetModel, *parts_, context, *request, response);
}

}  // namespace dragoman
