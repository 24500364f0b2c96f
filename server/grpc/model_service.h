// dragoman.v1.ModelService: which models are served.  Also answers while the server drains.  Both
// methods are served from raw bytes (raw_message.h).

#ifndef DRAGOMAN_SERVER_GRPC_MODEL_SERVICE_H_
#define DRAGOMAN_SERVER_GRPC_MODEL_SERVICE_H_

#include <grpcpp/grpcpp.h>

#include "dragoman/v1/translation.grpc.pb.h"
#include "server/api/call.h"

namespace dragoman {

// Thread-safe.
class ModelService final
    : public v1::ModelService::WithRawCallbackMethod_ListModels<
          v1::ModelService::WithRawCallbackMethod_GetModel<v1::ModelService::Service>> {
 public:
  // `parts` must outlive the service.
  explicit ModelService(const ServerParts* parts) : parts_(parts) {}

  grpc::ServerUnaryReactor* ListModels(grpc::CallbackServerContext* context,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* GetModel(grpc::CallbackServerContext* context,
                                     const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* response) override;

 private:
  const ServerParts* const parts_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_GRPC_MODEL_SERVICE_H_
