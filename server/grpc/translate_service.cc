#include "server/grpc/translate_service.h"

#include <atomic>
#include <utility>

#include "engine/base/status.h"
#include "server/api/detect_languages.h"
#include "server/api/score_exchange.h"
#include "server/api/translate_exchange.h"
#include "server/grpc/raw_message.h"
#include "server/grpc/stream_calls.h"

namespace dragoman {
namespace {

// Orders what the thread that calls Finish did before the thread that runs OnDone.  gRPC does that
// anyway, but ThreadSanitizer does not see into its library.
class Handover {
 public:
  void Give() { given_.store(true, std::memory_order_release); }
  void Take() const { (void)given_.load(std::memory_order_acquire); }

 private:
  std::atomic<bool> given_ = false;
};

// One Translate over gRPC. It owns itself: gRPC's OnDone deletes it, and nothing refers to it after
// that.
//
// Both reactions are short and wait for nothing, so gRPC runs them where it is (InternalInlineable)
// instead of waking another thread for each, which would cost a short call a tenth of its time.
//
// `this` is safe to use until Finish is called, and in Start even afterwards: gRPC calls nothing
// (neither OnCancel nor OnDone) before the handler has returned the reactor.
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
    exchange_.Start([&] { return ReadMessage<v1::TranslateRequest>(request, max_message_bytes_); });
  }

  void OnCancel() override { exchange_.Cancel(); }
  void OnDone() override {
    handover_.Take();
    delete this;
  }
  bool InternalInlineable() override { return true; }

 private:
  void Done(const CallEnd& end, const v1::TranslateResponse& answer) {
    held_ = end.held;
    const grpc::Status status = EndOf(end, answer, context_, response_);
    handover_.Give();
    Finish(status);
  }

  grpc::CallbackServerContext* const context_;
  grpc::ByteBuffer* const response_;
  const size_t max_message_bytes_;
  std::shared_ptr<HeldAnswer> held_;  // until OnDone
  Handover handover_;
  TranslateExchange exchange_;
};

// One Score over gRPC; owns itself like TranslateCall.
class ScoreCall : public grpc::ServerUnaryReactor {
 public:
  ScoreCall(const ServerParts* parts, grpc::CallbackServerContext* context,
            grpc::ByteBuffer* response)
      : max_message_bytes_(parts->max_message_bytes),
        exchange_(parts, CallerOf(*context),
                  [this, context, response](const CallEnd& end, const v1::ScoreResponse& answer) {
                    held_ = end.held;
                    const grpc::Status status = EndOf(end, answer, context, response);
                    handover_.Give();
                    Finish(status);
                  }) {}

  // REQUIRES: called once, before the handler returns this reactor.
  void Start(const grpc::ByteBuffer& request) {
    exchange_.Start([&] { return ReadMessage<v1::ScoreRequest>(request, max_message_bytes_); });
  }

  void OnCancel() override { exchange_.Cancel(); }
  void OnDone() override {
    handover_.Take();
    delete this;
  }
  bool InternalInlineable() override { return true; }

 private:
  const size_t max_message_bytes_;
  std::shared_ptr<HeldAnswer> held_;  // until OnDone
  Handover handover_;
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

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* TranslateService::TranslateDocument(
    grpc::CallbackServerContext* context) {
  return NewDocumentCall(parts_, context);
}

grpc::ServerUnaryReactor* TranslateService::Score(grpc::CallbackServerContext* context,
                                                  const grpc::ByteBuffer* request,
                                                  grpc::ByteBuffer* response) {
  auto* const call = new ScoreCall(parts_, context, response);
  call->Start(*request);
  return call;
}

grpc::ServerUnaryReactor* TranslateService::Tokenize(grpc::CallbackServerContext* context,
                                                     const grpc::ByteBuffer* request,
                                                     grpc::ByteBuffer* response) {
  Call call(parts_, "Tokenize", CallerOf(*context));
  CallSize size;
  const absl::StatusOr<v1::TokenizeResponse> tokenized = dragoman::Tokenize(
      [&] { return ReadMessage<v1::TokenizeRequest>(*request, parts_->max_message_bytes); }, &call,
      *parts_, &size);
  const CallEnd end = call.End(tokenized.status(), size);
  return new AnsweredCall(end, tokenized.ok() ? *tokenized : v1::TokenizeResponse(), context,
                          response);
}

grpc::ServerUnaryReactor* TranslateService::DetectLanguage(grpc::CallbackServerContext* context,
                                                           const grpc::ByteBuffer* request,
                                                           grpc::ByteBuffer* response) {
  Call call(parts_, "DetectLanguage", CallerOf(*context));
  CallSize size;
  const absl::StatusOr<v1::DetectLanguageResponse> detected = dragoman::DetectLanguage(
      [&] { return ReadMessage<v1::DetectLanguageRequest>(*request, parts_->max_message_bytes); },
      *parts_, &call, &size);
  const CallEnd end = call.End(detected.status(), size);
  return new AnsweredCall(end, detected.ok() ? *detected : v1::DetectLanguageResponse(), context,
                          response);
}

}  // namespace dragoman
