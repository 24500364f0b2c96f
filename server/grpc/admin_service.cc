#include "server/grpc/admin_service.h"

#include "server/grpc/raw_message.h"

namespace dragoman {

template <typename Request, typename Response>
grpc::ServerUnaryReactor* AdminService::Answer(const char* method,
                                               AdminMethod<Request, Response>* act,
                                               grpc::CallbackServerContext* context,
                                               const grpc::ByteBuffer& request,
                                               grpc::ByteBuffer* response) {
  Caller caller = CallerOf(*context);
  caller.api = "admin";
  caller.is_owner = owned_;
  Call call(parts_, method, std::move(caller));
  const absl::StatusOr<Response> answered =
      act([&] { return ReadMessage<Request>(request, parts_->max_message_bytes); }, *parts_,
          actions_, &call);
  return new AnsweredCall(call.End(answered.status()), answered.ok() ? *answered : Response(),
                          {context, request.Length(), response, parts_->metrics});
}

grpc::ServerUnaryReactor* AdminService::ListModels(grpc::CallbackServerContext* context,
                                                   const grpc::ByteBuffer* request,
                                                   grpc::ByteBuffer* response) {
  return Answer("AdminService/ListModels", AdminListModels, context, *request, response);
}

grpc::ServerUnaryReactor* AdminService::LoadModel(grpc::CallbackServerContext* context,
                                                  const grpc::ByteBuffer* request,
                                                  grpc::ByteBuffer* response) {
  return Answer("AdminService/LoadModel", dragoman::LoadModel, context, *request, response);
}

grpc::ServerUnaryReactor* AdminService::UnloadModel(grpc::CallbackServerContext* context,
                                                    const grpc::ByteBuffer* request,
                                                    grpc::ByteBuffer* response) {
  return Answer("AdminService/UnloadModel", dragoman::UnloadModel, context, *request, response);
}

grpc::ServerUnaryReactor* AdminService::PinModel(grpc::CallbackServerContext* context,
                                                 const grpc::ByteBuffer* request,
                                                 grpc::ByteBuffer* response) {
  return Answer("AdminService/PinModel", dragoman::PinModel, context, *request, response);
}

grpc::ServerUnaryReactor* AdminService::UnpinModel(grpc::CallbackServerContext* context,
                                                   const grpc::ByteBuffer* request,
                                                   grpc::ByteBuffer* response) {
  return Answer("AdminService/UnpinModel", dragoman::UnpinModel, context, *request, response);
}

grpc::ServerUnaryReactor* AdminService::SetLogLevel(grpc::CallbackServerContext* context,
                                                    const grpc::ByteBuffer* request,
                                                    grpc::ByteBuffer* response) {
  return Answer("AdminService/SetLogLevel", dragoman::SetLogLevel, context, *request, response);
}

grpc::ServerUnaryReactor* AdminService::Drain(grpc::CallbackServerContext* context,
                                              const grpc::ByteBuffer* request,
                                              grpc::ByteBuffer* response) {
  return Answer("AdminService/Drain", dragoman::Drain, context, *request, response);
}

}  // namespace dragoman
