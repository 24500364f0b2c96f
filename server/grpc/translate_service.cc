#include "server/grpc/translate_service.h"

#include <string>
#include <utility>

#include "engine/base/status.h"
#include "server/api/score_exchange.h"
#include "server/api/translate_exchange.h"
#include "server/grpc/grpc_door.h"
#include "server/grpc/raw_message.h"
#include "server/grpc/stream_calls.h"

namespace dragoman {
namespace {

// One Translate over gRPC.  It owns itself: gRPC's OnDone, after which nobody knows of it, deletes
// it.
//
// `this` is safe to use for as long as Finish has not been called, and in Start even afterwards:
// gRPC calls nothing (neither OnCancel nor OnDone) before the handler has returned the reactor.
class TranslateCall : public grpc::ServerUnaryReactor {
 public:
  TranslateCall(const ServerParts* parts, grpc::CallbackServerContext* context,
                grpc::ByteBuffer* response)
      : context_(context),
        response_(response),
        max_message_bytes_(parts->max_message_bytes),
        exchange_(parts, "Translate", CallerOf(*context),
                  [this](const CallEnd& end, const v1::TranslateResponse& answer) {
                    Done(end, answer);
                  }) {}

  // REQUIRES: called once, before the handler returns this reactor.
  void Start(const grpc::ByteBuffer& request) {
    exchange_.Start([&] { return ReadTranslateRequest(request, max_message_bytes_); });
  }

  void OnCancel() override { exchange_.Cancel(); }
  void OnDone() override { delete this; }

 private:
  void Done(const CallEnd& end, const v1::TranslateResponse& answer) {
    grpc::Status status = ToGrpcStatus(end, context_);
    if (status.ok()) {
      bool own_buffer;
      status = grpc::SerializationTraits<v1::TranslateResponse>::Serialize(answer, response_,
                                                                           &own_buffer);
    }
    Finish(status);
  }

  grpc::CallbackServerContext* const context_;
  grpc::ByteBuffer* const response_;
  const size_t max_message_bytes_;
  TranslateExchange exchange_;
};

// One Score over gRPC; owns itself as TranslateCall does.
class ScoreCall : public grpc::ServerUnaryReactor {
 public:
  ScoreCall(const ServerParts* parts, grpc::CallbackServerContext* context,
            v1::ScoreResponse* response)
      : exchange_(parts, CallerOf(*context),
                  [this, context, response](const CallEnd& end, v1::ScoreResponse answer) {
                    *response = std::move(answer);
                    Finish(ToGrpcStatus(end, context));
                  }) {}

  // REQUIRES: called once, before the handler returns this reactor.
  void Start(const v1::ScoreRequest& request) { exchange_.Start(request); }

  void OnCancel() override { exchange_.Cancel(); }
  void OnDone() override { delete this; }

 private:
  ScoreExchange exchange_;
};

}  // namespace

grpc::ServerUnaryReactor* TranslateService::Translate(grpc::CallbackServerContext* context,
                                                      const grpc::ByteBuffer* request,
                                                      grpc::ByteBuffer* response) {
  auto* const call = new TranslateCall(parts_, context, response);
  call->Start(*request);
  return call;
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* TranslateService::TranslateStream(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) {
  return NewStreamCall(parts_, context, *request);
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* TranslateService::TranslateBulk(
    grpc::CallbackServerContext* context) {
  return NewBulkCall(parts_, context);
}

grpc::ServerUnaryReactor* TranslateService::Score(grpc::CallbackServerContext* context,
                                                  const v1::ScoreRequest* request,
                                                  v1::ScoreResponse* response) {
  auto* const call = new ScoreCall(parts_, context, response);
  call->Start(*request);
  return call;
}

grpc::ServerUnaryReactor* TranslateService::Tokenize(grpc::CallbackServerContext* context,
                                                     const v1::TokenizeRequest* request,
                                                     v1::TokenizeResponse* response) {
  Call call(parts_, "Tokenize", CallerOf(*context));
  absl::StatusOr<v1::TokenizeResponse> tokenized = dragoman::Tokenize(*request, &call, *parts_);
  if (tokenized.ok()) *response = *std::move(tokenized);
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  reactor->Finish(
      ToGrpcStatus(call.End(tokenized.status(), {.texts = request->contents_size()}), context));
  return reactor;
}

}  // namespace dragoman
