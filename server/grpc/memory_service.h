// dragoman.v1.MemoryService: the translation memories that the server keeps.  All methods are
// served from raw bytes (raw_message.h).

#ifndef DRAGOMAN_SERVER_GRPC_MEMORY_SERVICE_H_
#define DRAGOMAN_SERVER_GRPC_MEMORY_SERVICE_H_

#include <grpcpp/grpcpp.h>

#include "dragoman/v1/translation.grpc.pb.h"
#include "server/api/call.h"

namespace dragoman {

using RawMemoryService = v1::MemoryService::WithRawCallbackMethod_CreateMemory<
    v1::MemoryService::WithRawCallbackMethod_GetMemory<
        v1::MemoryService::WithRawCallbackMethod_ListMemories<
            v1::MemoryService::WithRawCallbackMethod_GetMemorySegments<
                v1::MemoryService::WithRawCallbackMethod_LearnSegments<
                    v1::MemoryService::WithRawCallbackMethod_DeleteMemory<
                        v1::MemoryService::Service>>>>>>;

// Thread-safe.
class MemoryService final : public RawMemoryService {
 public:
  // `parts` must outlive the service.
  explicit MemoryService(const ServerParts* parts) : parts_(parts) {}

  grpc::ServerUnaryReactor* CreateMemory(grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* GetMemory(grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* ListMemories(grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* GetMemorySegments(grpc::CallbackServerContext* context,
                                              const grpc::ByteBuffer* request,
                                              grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* LearnSegments(grpc::CallbackServerContext* context,
                                          const grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* DeleteMemory(grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) override;

 private:
  const ServerParts* const parts_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_GRPC_MEMORY_SERVICE_H_
