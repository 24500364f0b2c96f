#include "server/translate_service.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "server/convert.h"
#include "server/languages.h"

namespace dragoman {
namespace {

absl::StatusOr<v1::TranslateRequest> Parse(const grpc::ByteBuffer& bytes) {
  grpc::ByteBuffer buffer = bytes;  // reading it consumes it; the slices are shared
  v1::TranslateRequest request;
  if (grpc::SerializationTraits<v1::TranslateRequest>::Deserialize(&buffer, &request).ok()) {
    return request;
  }
  // The parser stops at, and has taken over, the first string that is not UTF-8.
  if (const std::string field = FindInvalidUtf8(request); !field.empty()) {
    return InvalidField(field, "is not valid UTF-8");
  }
  return absl::InvalidArgumentError("the message is no TranslateRequest");
}

int CountCharacters(const std::vector<std::string>& texts) {
  size_t characters = 0;
  for (const std::string& text : texts) characters += CountCodePoints(text);
  return static_cast<int>(characters);
}

// One Translate.  It owns itself: gRPC's OnDone, after which nobody knows of it, deletes it.
//
// `this` is safe to use for as long as Finish has not been called, and in Start even afterwards:
// gRPC calls nothing (neither OnCancel nor OnDone) before the handler has returned the reactor.
class TranslateCall : public grpc::ServerUnaryReactor {
 public:
  TranslateCall(const ServerParts* parts, grpc::CallbackServerContext* context,
                grpc::ByteBuffer* response)
      : parts_(parts), call_(parts, "Translate", context), response_(response) {}

  // REQUIRES: called once, before the handler returns this reactor.
  void Start(const grpc::ByteBuffer& request) {
    if (absl::Status status = TryStart(request); !status.ok()) Finish(call_.End(status, size_));
  }

  // The client has gone or the deadline has passed.  The engine hears of it within a step and then
  // calls Done.
  void OnCancel() override {
    cancelled_ = true;
    if (request_ != nullptr) request_->Cancel();
  }

  void OnDone() override {
    parts_->gate->Leave();
    delete this;
  }

 private:
  // On an error nothing was started.
  absl::Status TryStart(const grpc::ByteBuffer& bytes) {
    RETURN_IF_ERROR(parts_->gate->Enter());
    RETURN_IF_ERROR(call_.Admit());
    ASSIGN_OR_RETURN(v1::TranslateRequest proto, Parse(bytes));
    size_.texts = proto.contents_size();
    ASSIGN_OR_RETURN(const Translator* translator, parts_->models->Find(proto.model()));
    call_.set_model(&translator->model());
    ASSIGN_OR_RETURN(TranslateRequest request, FromProto(&proto));
    ASSIGN_OR_RETURN(request.target_language,
                     ResolveLanguages(translator->model().tokenizer(), proto.source_language(),
                                      proto.target_language()));
    characters_ = CountCharacters(request.texts);
    output_ = proto.output();
    request_ = translator->Translate(
        std::move(request), call_.deadline(),
        [this](TranslateResponse translated) { Done(std::move(translated)); });
    return absl::OkStatus();
  }

  void Done(TranslateResponse translated) {
    if (translated.status.ok() && cancelled_) {
      translated.status = absl::CancelledError("the client went away");
    }
    // A client whose deadline passes hangs up, and is heard a moment before the deadline passes
    // here.
    if (absl::IsCancelled(translated.status) && call_.deadline() - absl::Now() < kDeadlineSlack) {
      translated.status = absl::DeadlineExceededError("the deadline passed");
    }
    if (translated.status.ok()) translated.status = Answer(translated);
    Finish(call_.End(translated.status, size_));
  }

  absl::Status Answer(const TranslateResponse& translated) {
    const Model& model = *call_.model();
    v1::TranslateResponse proto;
    proto.set_model(model.name());
    proto.set_model_version(model.version());
    for (const Translation& translation : translated.translations) {
      ToProto(translation, output_, proto.add_translations());
      size_.source_tokens += translation.source_tokens;
      size_.target_tokens += static_cast<int>(translation.hypotheses.front().token_ids.size());
    }
    ToProto(translated.times, call_.Elapsed(), proto.mutable_timing());
    bool own_buffer;
    const grpc::Status serialized =
        grpc::SerializationTraits<v1::TranslateResponse>::Serialize(proto, response_, &own_buffer);
    if (!serialized.ok()) return absl::InternalError(serialized.error_message());
    parts_->metrics->OnTranslated(model, characters_, translated.times);
    return absl::OkStatus();
  }

  static constexpr absl::Duration kDeadlineSlack = absl::Milliseconds(20);

  const ServerParts* const parts_;
  Call call_;
  grpc::ByteBuffer* const response_;
  v1::OutputOptions output_;
  CallSize size_;
  int characters_ = 0;
  std::shared_ptr<RequestState> request_;  // null until the engine has it
  std::atomic<bool> cancelled_ = false;
};

// A stream that ends before it has begun.
template <typename Reactor>
class RefusedStream : public Reactor {
 public:
  explicit RefusedStream(const grpc::Status& status) { this->Finish(status); }
  void OnDone() override { delete this; }
};

grpc::Status Refuse(const ServerParts* parts, const char* method,
                    grpc::CallbackServerContext* context) {
  Call call(parts, method, context);
  absl::Status status = call.Admit();
  status.Update(
      absl::UnimplementedError(std::string(method) + " is not implemented in this version"));
  return call.End(status);
}

grpc::ServerUnaryReactor* RefuseUnary(const ServerParts* parts, const char* method,
                                      grpc::CallbackServerContext* context) {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  reactor->Finish(Refuse(parts, method, context));
  return reactor;
}

}  // namespace

grpc::ServerUnaryReactor* TranslateService::Translate(grpc::CallbackServerContext* context,
                                                      const grpc::ByteBuffer* request,
                                                      grpc::ByteBuffer* response) {
  auto* const call = new TranslateCall(parts_, context, response);
  call->Start(*request);
  return call;
}

grpc::ServerWriteReactor<v1::TranslateStreamResponse>* TranslateService::TranslateStream(
    grpc::CallbackServerContext* context, const v1::TranslateRequest* request) {
  return new RefusedStream<grpc::ServerWriteReactor<v1::TranslateStreamResponse>>(
      Refuse(parts_, "TranslateStream", context));
}

grpc::ServerBidiReactor<v1::TranslateBulkRequest, v1::TranslateBulkResponse>*
TranslateService::TranslateBulk(grpc::CallbackServerContext* context) {
  return new RefusedStream<
      grpc::ServerBidiReactor<v1::TranslateBulkRequest, v1::TranslateBulkResponse>>(
      Refuse(parts_, "TranslateBulk", context));
}

grpc::ServerUnaryReactor* TranslateService::Score(grpc::CallbackServerContext* context,
                                                  const v1::ScoreRequest* request,
                                                  v1::ScoreResponse* response) {
  return RefuseUnary(parts_, "Score", context);
}

grpc::ServerUnaryReactor* TranslateService::Tokenize(grpc::CallbackServerContext* context,
                                                     const v1::TokenizeRequest* request,
                                                     v1::TokenizeResponse* response) {
  return RefuseUnary(parts_, "Tokenize", context);
}

}  // namespace dragoman
