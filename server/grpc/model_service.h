// dragoman.v1.ModelService: which models are served.  Also answers while the server drains.

#ifndef DRAGOMAN_SERVER_GRPC_MODEL_SERVICE_H_
#define DRAGOMAN_SERVER_GRPC_MODEL_SERVICE_H_

#include <grpcpp/grpcpp.h>

#include "dragoman/v1/translation.grpc.pb.h"
#include "server/api/call.h"

namespace dragoman {

// Thread-safe.
class ModelService final : public v1::ModelService::CallbackService {
 public:
  // `parts` must outlive the service.
  explicit ModelService(const ServerParts* parts) : parts_(parts) {}

  grpc::ServerUnaryReactor* ListModels(grpc::CallbackServerContext* context,
                                       const v1::ListModelsRequest* request,
                                       v1::ListModelsResponse* response) override;
  grpc::ServerUnaryReactor* GetModel(grpc::CallbackServerContext* context,
                                     const v1::GetModelRequest* request,
                                     v1::Model* response) override;

 private:
  const ServerParts* const parts_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_GRPC_MODEL_SERVICE_H_
