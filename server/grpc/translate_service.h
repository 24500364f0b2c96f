// dragoman.v1.TranslationService, on gRPC's callback API: no thread waits for a translation.
//
//   RPC thread     TranslateExchange::Start: admit -> parse -> find the model ->
//                  Translator::Translate, which returns at once
//   worker thread  the translation is done -> answer
//
// All methods are served from raw bytes (raw_message.h).  Those that stream are in
// stream_calls.h.

#ifndef DRAGOMAN_SERVER_GRPC_TRANSLATE_SERVICE_H_
#define DRAGOMAN_SERVER_GRPC_TRANSLATE_SERVICE_H_

#include <grpcpp/grpcpp.h>

#include "dragoman/v1/translation.grpc.pb.h"
#include "server/api/call.h"

namespace dragoman {

// Thread-safe.
class TranslateService final
    : public v1::TranslationService::WithRawCallbackMethod_Translate<
          v1::TranslationService::WithRawCallbackMethod_TranslateStream<
              v1::TranslationService::WithRawCallbackMethod_TranslateBulk<
                  v1::TranslationService::WithRawCallbackMethod_TranslateDocument<
                      v1::TranslationService::WithRawCallbackMethod_Score<
                          v1::TranslationService::WithRawCallbackMethod_Tokenize<
                              v1::TranslationService::WithRawCallbackMethod_DetectLanguage<
                                  v1::TranslationService::Service>>>>>>> {
 public:
  // `parts` must outlive the service.
  explicit TranslateService(const ServerParts* parts) : parts_(parts) {}

  grpc::ServerUnaryReactor* Translate(grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override;

  grpc::ServerWriteReactor<grpc::ByteBuffer>* TranslateStream(
      grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) override;
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* TranslateBulk(
      grpc::CallbackServerContext* context) override;
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* TranslateDocument(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* Score(grpc::CallbackServerContext* context,
                                  const grpc::ByteBuffer* request,
                                  grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* Tokenize(grpc::CallbackServerContext* context,
                                     const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* DetectLanguage(grpc::CallbackServerContext* context,
                                           const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* response) override;

 private:
  const ServerParts* const parts_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_GRPC_TRANSLATE_SERVICE_H_
