// dragoman.v1.TranslationService, on gRPC's callback API: no thread waits for a translation.
//
//   RPC thread     TranslateExchange::Start: admit -> parse -> find the model ->
//                  Translator::Translate, which returns at once
//   worker thread  the translation is done -> answer
//
// Translate is served from raw bytes, because gRPC answers a message that does not parse with a
// bare UNIMPLEMENTED, and a text that is not UTF-8 does not parse.

#ifndef DRAGOMAN_SERVER_TRANSLATE_SERVICE_H_
#define DRAGOMAN_SERVER_TRANSLATE_SERVICE_H_

#include <grpcpp/grpcpp.h>

#include "dragoman/v1/translation.grpc.pb.h"
#include "server/call.h"

namespace dragoman {

// Thread-safe.
class TranslateService final : public v1::TranslationService::WithRawCallbackMethod_Translate<
                                   v1::TranslationService::WithCallbackMethod_TranslateStream<
                                       v1::TranslationService::WithCallbackMethod_TranslateBulk<
                                           v1::TranslationService::WithCallbackMethod_Score<
                                               v1::TranslationService::WithCallbackMethod_Tokenize<
                                                   v1::TranslationService::Service>>>>> {
 public:
  // `parts` must outlive the service.
  explicit TranslateService(const ServerParts* parts) : parts_(parts) {}

  grpc::ServerUnaryReactor* Translate(grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override;

  // UNIMPLEMENTED in this version.
  grpc::ServerWriteReactor<v1::TranslateStreamResponse>* TranslateStream(
      grpc::CallbackServerContext* context, const v1::TranslateRequest* request) override;
  grpc::ServerBidiReactor<v1::TranslateBulkRequest, v1::TranslateBulkResponse>* TranslateBulk(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* Score(grpc::CallbackServerContext* context,
                                  const v1::ScoreRequest* request,
                                  v1::ScoreResponse* response) override;
  grpc::ServerUnaryReactor* Tokenize(grpc::CallbackServerContext* context,
                                     const v1::TokenizeRequest* request,
                                     v1::TokenizeResponse* response) override;

 private:
  const ServerParts* const parts_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_TRANSLATE_SERVICE_H_
