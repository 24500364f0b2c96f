// Every event of a call (the exchange has something to send, a message was written or read) lets it
// do everything that can be done now.  gRPC's operations may call back before they return.

#include "server/grpc/stream_calls.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "engine/base/pump.h"
#include "engine/base/status.h"
#include "server/api/bulk_exchange.h"
#include "server/api/document_exchange.h"
#include "server/api/methods.h"
#include "server/api/stream_exchange.h"
#include "server/config/config.h"
#include "server/grpc/first_message.h"
#include "server/grpc/grpc_caller.h"
#include "server/grpc/handover.h"
#include "server/grpc/raw_message.h"
#include "server/net/arrivals.h"

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
  using Request = v1::TranslateDocumentRequest;
  const size_t memory =
      MemoryOfMessage(bytes.Length()) + MoreMemoryOf(bytes, *Request::descriptor());
  exchange->Add(memory, [&] { return Read<Request>(bytes, max_bytes); });
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

  void OnWriteDone(bool ok) override {
    DRAGOMAN_CHECK(writing_);  // so what was done before it was set has happened here, too
    outgoing_.Clear();
    held_ = nullptr;
    writing_ = false;
    if (!ok) exchange_->Cancel();
    OnEvent();
  }
  void OnCancel() final {
    if (MayCancel()) exchange_->Cancel();
    handover_.Give();
  }
  void OnDone() override {
    handover_.Take();
    exchange_ = nullptr;
    const auto last = std::move(self_);
  }

 protected:
  // Lives from now on until OnDone.
  std::shared_ptr<StreamedCall> Live() { return self_ = this->shared_from_this(); }

  // `parse`, if any, is for Exchange::Start.
  template <typename... Parse>
  std::shared_ptr<Exchange> StartExchange(Caller caller, const Parse&... parse) {
    received_bytes_ = caller.message_bytes;
    const auto exchange =
        std::make_shared<Exchange>(parts_, std::move(caller), [weak = this->weak_from_this()] {
          if (const auto call = weak.lock()) call->OnEvent();
        });
    exchange_ = exchange;
    exchange->Start(parse...);
    return exchange;
  }

  // Whether there is an exchange; if not, it is cancelled when it begins.
  virtual bool MayCancel() { return true; }

  const ServerParts& parts() const { return *parts_; }
  const grpc::CallbackServerContext& context() const { return *context_; }

  void OnMessage(const std::string& peer, bool ok) {
    DRAGOMAN_CHECK(reading_);  // as in OnWriteDone
    if (ok) {
      received_bytes_ += incoming_.Length();
      Arrivals::Get().Add(peer, incoming_.Length());
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
      const grpc::Status status = ToGrpcStatus(*event.end, context_);
      handover_.Give();
      this->Finish(status);
    }
    return false;
  }

  const ServerParts* const parts_;
  grpc::CallbackServerContext* const context_;
  std::shared_ptr<StreamedCall> self_;
  std::shared_ptr<Exchange> exchange_;
  grpc::ByteBuffer incoming_, outgoing_;  // being read and written
  std::shared_ptr<HeldAnswer> held_;      // outgoing_

  Handover handover_;
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
  BidiReactor* Start() {
    this->Live();
    Caller caller = CallerOf(this->context());
    caller.more_bytes = this->parts().max_message_bytes;  // what the transport may have of the next
    Arrivals::Get().Begin(peer_ = caller.peer);
    this->StartExchange(std::move(caller));
    return this;
  }
  void OnReadDone(bool ok) override { this->OnMessage(peer_, ok); }
  void OnDone() override {
    Arrivals::Get().End(peer_);
    StreamedCall<BidiReactor, Exchange>::OnDone();
  }

 private:
  std::string peer_;
};

class TextStream final : public StreamedCall<WriteReactor, TranslateStreamExchange> {
 public:
  using StreamedCall::StreamedCall;
  WriteReactor* Start(const Incoming& incoming) {
    caller_ = CallerOf(context());
    message_.Read(
        incoming, Live(),
        [this] { return RoomForMessage(parts(), MethodOf("TranslateStream"), caller_); },
        [this](const absl::Status& waited) { Begin(waited); });
    return this;
  }

 private:
  bool MayCancel() override { return message_.Meet(); }

  // The message has come or, after an error, is not waited for.
  void Begin(const absl::Status& waited) {
    if (waited.ok()) {
      caller_.message_bytes = message_.bytes()->Length();
      caller_.more_bytes = MoreMemoryOf(*message_.bytes(), *v1::TranslateRequest::descriptor());
    }
    // The call may end before this does.
    const auto exchange =
        StartExchange(std::move(caller_), [&]() -> absl::StatusOr<v1::TranslateRequest> {
          RETURN_IF_ERROR(waited);
          return Read<v1::TranslateRequest>(*message_.bytes(), parts().max_message_bytes);
        });
    if (message_.Meet()) exchange->Cancel();
  }

  FirstMessage message_;
  Caller caller_;  // until Begin
};

template <typename Exchange>
grpc::internal::MethodHandler* ReadingHandler(const ServerParts* parts) {
  return new grpc::internal::CallbackBidiHandler<grpc::ByteBuffer, grpc::ByteBuffer>(
      [parts](grpc::CallbackServerContext* context) {
        return std::make_shared<ReadingCall<Exchange>>(parts, context)->Start();
      });
}

}  // namespace

grpc::internal::MethodHandler* NewStreamHandler(const ServerParts* parts, std::string_view method) {
  if (method == "TranslateBulk") return ReadingHandler<BulkExchange>(parts);
  if (method == "TranslateDocument") return ReadingHandler<DocumentExchange>(parts);
  DRAGOMAN_CHECK(method == "TranslateStream");
  return new HeadersFirst<
      grpc::internal::CallbackServerStreamingHandler<Incoming, grpc::ByteBuffer>>(
      [parts](grpc::CallbackServerContext* context, const Incoming* incoming) {
        return std::make_shared<TextStream>(parts, context)->Start(*incoming);
      });
}

}  // namespace dragoman
