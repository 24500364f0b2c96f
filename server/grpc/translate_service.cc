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

// A call of one message for one. It owns itself: gRPC's OnDone deletes it, and nothing refers to it
// after that.
//
// Both reactions are short and wait for nothing, so gRPC runs them where it is (InternalInlineable)
// instead of waking another thread for each, which would cost a short call a tenth of its time.
//
// `this` is safe to use until Finish is called, and in Start even afterwards: gRPC calls nothing
// (neither OnCancel nor OnDone) before the handler has returned the reactor.
template <typename UnaryExchange>
class UnaryCall : public grpc::ServerUnaryReactor {
 public:
  UnaryCall(const ServerParts* parts, grpc::CallbackServerContext* context,
            const grpc::ByteBuffer& request, grpc::ByteBuffer* response)
      : max_message_bytes_(parts->max_message_bytes),
        raw_{context, request.Length(), response, parts->metrics},
        exchange_(parts, CallerOf(*context), [this](const CallEnd& end, const auto& answer) {
          held_ = end.held;
          const grpc::Status status = EndOf(end, answer, raw_);
          handover_.Give();
          Finish(status);
        }) {}

  // REQUIRES: called once, before the handler returns this reactor.
  UnaryCall* Start(const grpc::ByteBuffer& request) {
    exchange_.Start(
        [&] { return ReadMessage<typename UnaryExchange::Request>(request, max_message_bytes_); });
    return this;
  }

  void OnCancel() override { exchange_.Cancel(); }
  void OnDone() override {
    handover_.Take();
    delete this;
  }
  bool InternalInlineable() override { return true; }

 private:
  const size_t max_message_bytes_;
  const RawCall raw_;
  std::shared_ptr<HeldAnswer> held_;  // until OnDone
  Handover handover_;
  UnaryExchange exchange_;
};

}  // namespace

grpc::ServerUnaryReactor* TranslateService::Translate(grpc::CallbackServerContext* context,
                                                      const grpc::ByteBuffer* request,
                                                      grpc::ByteBuffer* response) {
  return (new UnaryCall<TranslateExchange>(parts_, context, *request, response))->Start(*request);
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
  return (new UnaryCall<ScoreExchange>(parts_, context, *request, response))->Start(*request);
}

grpc::ServerUnaryReactor* TranslateService::Tokenize(grpc::CallbackServerContext* context,
                                                     const grpc::ByteBuffer* request,
                                                     grpc::ByteBuffer* response) {
  return (new UnaryCall<TokenizeExchange>(parts_, context, *request, response))->Start(*request);
}

grpc::ServerUnaryReactor* TranslateService::DetectLanguage(grpc::CallbackServerContext* context,
                                                           const grpc::ByteBuffer* request,
                                                           grpc::ByteBuffer* response) {
  return AnswerMethod("DetectLanguage", dragoman::DetectLanguage, *parts_, context, *request,
                      response);
}

}  // namespace dragoman
