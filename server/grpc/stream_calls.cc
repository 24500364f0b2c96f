// Every event of a call (the exchange has something to send, a message was written or read) lets it
// do everything that can be done now.  gRPC's operations may call back before they return.

#include "server/grpc/stream_calls.h"

#include <grpcpp/impl/codegen/server_callback_handlers.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "engine/base/pump.h"
#include "server/api/bulk_exchange.h"
#include "server/api/document_exchange.h"
#include "server/api/stream_exchange.h"
#include "server/grpc/grpc_caller.h"
#include "server/grpc/raw_message.h"

namespace dragoman {
namespace {

using WriteReactor = grpc::ServerWriteReactor<grpc::ByteBuffer>;
using BidiReactor = grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>;

template <typename Message>
absl::StatusOr<Message> Read(const grpc::ByteBuffer& bytes, size_t max_bytes) {
  return Parsed<Message>([&](auto* message) { return ReadMessage(bytes, max_bytes, message); });
}

// Passes a message that was read to its exchange.
void Take(const grpc::ByteBuffer& bytes, size_t max_bytes, BulkExchange* exchange) {
  absl::StatusOr<BulkExchange::Item> item = ReadBulkRequest(bytes, max_bytes);
  if (!item.ok()) return exchange->NoMore(item.status());
  exchange->Add(*std::move(item));
}
void Take(const grpc::ByteBuffer& bytes, size_t max_bytes, DocumentExchange* exchange) {
  exchange->Add(Read<v1::TranslateDocumentRequest>(bytes, max_bytes));
}

// A call that sends any number of messages and, if its exchange has HasRoom, reads any number.  It
// owns itself until OnDone.  The exchange may call back after that, so it holds only a weak
// pointer.
template <typename Reactor, typename Exchange>
class StreamedCall : public Reactor,
                     public std::enable_shared_from_this<StreamedCall<Reactor, Exchange>> {
 public:
  StreamedCall(const ServerParts* parts, grpc::CallbackServerContext* context)
      : parts_(parts), context_(context) {}

  // `request_bytes` is the size of a message that came with the call; `parse`, if any, is for
  // Exchange::Start.
  template <typename... Parse>
  Reactor* Start(size_t request_bytes, const Parse&... parse) {
    self_ = this->shared_from_this();
    received_bytes_ = request_bytes;
    Caller caller = CallerOf(*context_);
    caller.message_bytes = request_bytes;
    exchange_ =
        std::make_shared<Exchange>(parts_, std::move(caller), [weak = this->weak_from_this()] {
          if (const auto call = weak.lock()) call->OnEvent();
        });
    exchange_->Start(parse...);
    return this;
  }

  void OnWriteDone(bool ok) override {
    DRAGOMAN_CHECK(writing_);  // so what was done before it was set has happened here, too
    outgoing_.Clear();
    held_ = nullptr;
    writing_ = false;
    if (!ok) exchange_->Cancel();
    OnEvent();
  }
  void OnCancel() override { exchange_->Cancel(); }
  void OnDone() override { const auto last = std::move(self_); }

 protected:
  void OnMessage(bool ok) {
    DRAGOMAN_CHECK(reading_);  // as in OnWriteDone
    if (ok) {
      received_bytes_ += incoming_.Length();
      Take(incoming_, parts_->max_message_bytes, exchange_.get());
      incoming_.Clear();
    } else {
      exchange_->NoMore();
    }
    reading_ = false;
    OnEvent();
  }

 private:
  void OnEvent() {
    const auto self = this->shared_from_this();  // after Finish the call may be over
    pump_.Run([this] { return Step(); });
  }

  // What is sent makes room for what is read.
  bool Step() {
    if (ended_) return false;
    const bool wrote = !writing_ && SendNext();
    if constexpr (requires(Exchange & exchange) { exchange.HasRoom(); }) {
      if (!ended_ && !reading_ && exchange_->HasRoom()) {
        reading_ = true;
        this->StartRead(&incoming_);
      }
    }
    return wrote;
  }

  // Whether there was a message.
  bool SendNext() {
    auto event = exchange_->Next();
    if (event.message.has_value()) {
      held_ = std::move(event.held);
      outgoing_ = Serialized(*std::move(event.message));
      sent_bytes_ += outgoing_.Length();
      writing_ = true;
      this->StartWrite(&outgoing_);
      return true;
    }
    ended_ = event.end.has_value();
    if (ended_) {
      parts_->metrics->OnRpcMessages(event.end->method, event.end->status.code(), received_bytes_,
                                     sent_bytes_);
      this->Finish(ToGrpcStatus(*event.end, context_));
    }
    return false;
  }

  const ServerParts* const parts_;
  grpc::CallbackServerContext* const context_;
  std::shared_ptr<StreamedCall> self_;
  std::shared_ptr<Exchange> exchange_;
  grpc::ByteBuffer incoming_, outgoing_;  // being read and written
  std::shared_ptr<HeldAnswer> held_;      // outgoing_

  Pump pump_;
  std::atomic<bool> reading_ = false, writing_ = false;
  std::atomic<size_t> received_bytes_ = 0;
  size_t sent_bytes_ = 0;  // like the next, the pump's
  bool ended_ = false;
};

template <typename Exchange>
class ReadingCall : public StreamedCall<BidiReactor, Exchange> {
 public:
  using StreamedCall<BidiReactor, Exchange>::StreamedCall;
  void OnReadDone(bool ok) override { this->OnMessage(ok); }
};

template <typename Exchange>
StreamHandler ReadingHandler(const ServerParts* parts) {
  return {grpc::internal::RpcMethod::BIDI_STREAMING,
          new grpc::internal::CallbackBidiHandler<grpc::ByteBuffer, grpc::ByteBuffer>(
              [parts](grpc::CallbackServerContext* context) {
                return std::make_shared<ReadingCall<Exchange>>(parts, context)->Start(0);
              })};
}

}  // namespace

StreamHandler NewStreamHandler(const ServerParts* parts, std::string_view method) {
  if (method == "TranslateBulk") return ReadingHandler<BulkExchange>(parts);
  if (method == "TranslateDocument") return ReadingHandler<DocumentExchange>(parts);
  DRAGOMAN_CHECK(method == "TranslateStream");
  return {grpc::internal::RpcMethod::SERVER_STREAMING,
          new grpc::internal::CallbackServerStreamingHandler<grpc::ByteBuffer, grpc::ByteBuffer>(
              [parts](grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) {
                using Stream = StreamedCall<WriteReactor, TranslateStreamExchange>;
                return std::make_shared<Stream>(parts, context)->Start(request->Length(), [&] {
                  return Read<v1::TranslateRequest>(*request, parts->max_message_bytes);
                });
              })};
}

}  // namespace dragoman
