// dragoman.v1.AdminService (admin.proto), for a port of its own.  Also answers while the server
// drains.

#ifndef DRAGOMAN_SERVER_GRPC_ADMIN_SERVICE_H_
#define DRAGOMAN_SERVER_GRPC_ADMIN_SERVICE_H_

#include <grpcpp/grpcpp.h>

#include <utility>

#include "dragoman/v1/admin.grpc.pb.h"
#include "server/api/admin.h"

namespace dragoman {

// Thread-safe.
class AdminService final : public v1::AdminService::WithRawCallbackMethod_ListModels<
                               v1::AdminService::WithRawCallbackMethod_LoadModel<
                                   v1::AdminService::WithRawCallbackMethod_UnloadModel<
                                       v1::AdminService::WithRawCallbackMethod_PinModel<
                                           v1::AdminService::WithRawCallbackMethod_UnpinModel<
                                               v1::AdminService::WithRawCallbackMethod_SetLogLevel<
                                                   v1::AdminService::WithRawCallbackMethod_Drain<
                                                       v1::AdminService::Service>>>>>>> {
 public:
  // `parts` must outlive the service.  `owned`: only the owner of the process reaches its port.
  AdminService(const ServerParts* parts, AdminActions actions, bool owned)
      : parts_(parts), actions_(std::move(actions)), owned_(owned) {}

  grpc::ServerUnaryReactor* ListModels(grpc::CallbackServerContext* context,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* LoadModel(grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* UnloadModel(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* PinModel(grpc::CallbackServerContext* context,
                                     const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* UnpinModel(grpc::CallbackServerContext* context,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* SetLogLevel(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* Drain(grpc::CallbackServerContext* context,
                                  const grpc::ByteBuffer* request,
                                  grpc::ByteBuffer* response) override;

 private:
  template <typename Request, typename Response>
  grpc::ServerUnaryReactor* Answer(const char* method, AdminMethod<Request, Response>* act,
                                   grpc::CallbackServerContext* context,
                                   const grpc::ByteBuffer& request, grpc::ByteBuffer* response);

  const ServerParts* const parts_;
  const AdminActions actions_;
  const bool owned_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_GRPC_ADMIN_SERVICE_H_
