// dragoman.v1.GlossaryService: the glossaries that the server keeps.  All methods are served from
// raw bytes (raw_message.h).

#ifndef DRAGOMAN_SERVER_GRPC_GLOSSARY_SERVICE_H_
#define DRAGOMAN_SERVER_GRPC_GLOSSARY_SERVICE_H_

#include <grpcpp/grpcpp.h>

#include "dragoman/v1/translation.grpc.pb.h"
#include "server/api/call.h"

namespace dragoman {

using RawGlossaryService = v1::GlossaryService::WithRawCallbackMethod_CreateGlossary<
    v1::GlossaryService::WithRawCallbackMethod_GetGlossary<
        v1::GlossaryService::WithRawCallbackMethod_ListGlossaries<
            v1::GlossaryService::WithRawCallbackMethod_GetGlossaryEntries<
                v1::GlossaryService::WithRawCallbackMethod_ReplaceGlossary<
                    v1::GlossaryService::WithRawCallbackMethod_DeleteGlossary<
                        v1::GlossaryService::Service>>>>>>;

// Thread-safe.
class GlossaryService final : public RawGlossaryService {
 public:
  // `parts` must outlive the service.
  explicit GlossaryService(const ServerParts* parts) : parts_(parts) {}

  grpc::ServerUnaryReactor* CreateGlossary(grpc::CallbackServerContext* context,
                                           const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* GetGlossary(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* ListGlossaries(grpc::CallbackServerContext* context,
                                           const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* GetGlossaryEntries(grpc::CallbackServerContext* context,
                                               const grpc::ByteBuffer* request,
                                               grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* ReplaceGlossary(grpc::CallbackServerContext* context,
                                            const grpc::ByteBuffer* request,
                                            grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* DeleteGlossary(grpc::CallbackServerContext* context,
                                           const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* response) override;

 private:
  const ServerParts* const parts_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_GRPC_GLOSSARY_SERVICE_H_
