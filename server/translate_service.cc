#include "server/translate_service.h"

#include <string>
#include <utility>

#include "engine/base/status.h"
#include "server/convert.h"
#include "server/errors.h"
#include "server/grpc_door.h"
#include "server/score_exchange.h"
#include "server/translate_exchange.h"

namespace dragoman {
namespace {

// Whether bytes that are no TranslateRequest begin like gzip's (RFC 1952) or zlib's (RFC 1950).
bool LooksCompressed(const grpc::ByteBuffer& bytes) {
  grpc::Slice slice;
  if (!bytes.TrySingleSlice(&slice).ok() && !bytes.DumpToSingleSlice(&slice).ok()) return false;
  if (slice.size() < 2) return false;
  const int first = slice.begin()[0], second = slice.begin()[1];
  return (first == 0x1F && second == 0x8B) || (first == 0x78 && (first << 8 | second) % 31 == 0);
}

// gRPC hands over what came: no message at all if the call ended before it did, one that is larger
// than the limit, though not by much (grpc_port.cc), and a compressed one as it is.
absl::StatusOr<v1::TranslateRequest> Parse(const grpc::ByteBuffer& bytes, size_t max_bytes) {
  if (!bytes.Valid()) return absl::CancelledError("the client went away");
  if (bytes.Length() > max_bytes) return MessageTooLarge(bytes.Length(), max_bytes);
  grpc::ByteBuffer buffer = bytes;  // reading it consumes it; the slices are shared
  v1::TranslateRequest request;
  if (grpc::SerializationTraits<v1::TranslateRequest>::Deserialize(&buffer, &request).ok()) {
    return request;
  }
  // The parser stops at, and has taken over, the first string that is not UTF-8.
  if (const std::string field = FindInvalidUtf8(request); !field.empty()) {
    return InvalidField(field, "is not valid UTF-8");
  }
  if (LooksCompressed(bytes)) {
    return absl::UnimplementedError(
        "compressed messages are not accepted: what a few bytes unpack "
        "to has no bound");
  }
  return absl::InvalidArgumentError("the message is no TranslateRequest");
}

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
    exchange_.Start([&] { return Parse(request, max_message_bytes_); });
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

// A stream that ends before it has begun.
template <typename Reactor>
class RefusedStream : public Reactor {
 public:
  explicit RefusedStream(const grpc::Status& status) { this->Finish(status); }
  void OnDone() override { delete this; }
};

grpc::Status Refuse(const ServerParts* parts, const char* method,
                    grpc::CallbackServerContext* context) {
  Call call(parts, method, CallerOf(*context));
  absl::Status status = call.Admit();
  status.Update(
      absl::UnimplementedError(std::string(method) + " is not implemented in this version"));
  return ToGrpcStatus(call.End(status), context);
}

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
