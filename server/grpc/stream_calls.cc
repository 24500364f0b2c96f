// Every event of a call (the exchange has something to send, a message was written or read, a timer
// fires) leads to Pump, which does everything that can be done now.  One thread at a time pumps,
// and checks again for what has come up meanwhile. gRPC's operations may call back before they
// return, so Pump decides under the lock and acts outside of it.

#include "server/grpc/stream_calls.h"

#include <grpcpp/alarm.h>
#include <grpcpp/impl/codegen/server_callback_handlers.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
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
    {
      absl::MutexLock lock(&mutex_);
      received_bytes_ = request_bytes;
    }
    Caller caller = CallerOf(*context_);
    caller.message_bytes = request_bytes;
    exchange_ =
        std::make_shared<Exchange>(parts_, std::move(caller), [weak = this->weak_from_this()] {
          if (const auto call = weak.lock()) call->Pump();
        });
    exchange_->Start(parse...);
    return this;
  }

  void OnWriteDone(bool ok) override {
    {
      absl::MutexLock lock(&mutex_);
      outgoing_.Clear();
      held_ = nullptr;
      writing_ = false;
    }
    if (!ok) exchange_->Cancel();
    Pump();
  }
  void OnCancel() override { exchange_->Cancel(); }
  void OnDone() override { const auto last = std::move(self_); }

 protected:
  void OnMessage(bool ok) {
    const size_t bytes = ok ? incoming_.Length() : 0;
    if (ok) {
      Take(incoming_, parts_->max_message_bytes, exchange_.get());
      incoming_.Clear();
    } else {
      exchange_->NoMore();
    }
    {
      absl::MutexLock lock(&mutex_);
      received_bytes_ += bytes;
      reading_ = false;
    }
    Pump();
  }

 private:
  static constexpr bool kReads = requires(Exchange & exchange) { exchange.HasRoom(); };
  static constexpr bool kRetries = requires(Exchange & exchange) { exchange.WantsRetry(); };

  bool WantsMessage() {
    if constexpr (kReads) return exchange_->HasRoom();
    return false;
  }
  bool WantsRetry() {
    if constexpr (kRetries) return exchange_->WantsRetry();
    return false;
  }

  void Pump() {
    mutex_.Lock();
    if (pumping_) return mutex_.Unlock();
    pumping_ = true;
    while (true) {
      auto event = writing_ ? decltype(exchange_->Next())() : exchange_->Next();
      if (event.end.has_value()) end_ = std::move(event.end);
      const bool write = event.message.has_value();
      const bool read = !end_.has_value() && !reading_ && WantsMessage();
      const bool wait = !end_.has_value() && !waiting_ && WantsRetry();
      const bool finish = end_.has_value() && !waiting_;
      if (!write && !read && !wait && !finish) break;
      if (write) {
        held_ = std::move(event.held);
        outgoing_ = Serialized(*std::move(event.message));
        sent_bytes_ += outgoing_.Length();
      }
      writing_ = writing_ || write;
      reading_ = reading_ || read;
      waiting_ = waiting_ || wait;
      if (finish) {
        parts_->metrics->OnRpcMessages(end_->method, end_->status.code(), received_bytes_,
                                       sent_bytes_);
      }
      mutex_.Unlock();
      // After Finish the call may be gone; pumping_ stays set.
      if (finish) return this->Finish(ToGrpcStatus(*end_, context_));
      if (write) this->StartWrite(&outgoing_);
      if constexpr (kReads) {
        if (read) this->StartRead(&incoming_);
      }
      if constexpr (kRetries) {
        if (wait) RetrySoon();
      }
      mutex_.Lock();
    }
    pumping_ = false;
    mutex_.Unlock();
  }

  // Each wait has its own alarm, because one that has fired may still be in its callback.  The call
  // does not end before that (waiting_).
  void RetrySoon() {
    const auto when =
        std::chrono::system_clock::now() + absl::ToChronoMilliseconds(Exchange::kRetryDelay);
    alarm_ = std::make_unique<grpc::Alarm>();
    alarm_->Set(when, [this](bool) {
      const auto self = this->shared_from_this();
      {
        absl::MutexLock lock(&mutex_);
        waiting_ = false;
      }
      exchange_->Retry();
      Pump();
    });
  }

  const ServerParts* const parts_;
  grpc::CallbackServerContext* const context_;
  std::shared_ptr<StreamedCall> self_;
  std::shared_ptr<Exchange> exchange_;
  grpc::ByteBuffer incoming_, outgoing_;  // being read and written
  std::shared_ptr<HeldAnswer> held_;      // outgoing_
  std::unique_ptr<grpc::Alarm> alarm_;

  absl::Mutex mutex_;
  bool pumping_ ABSL_GUARDED_BY(mutex_) = false;
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool waiting_ ABSL_GUARDED_BY(mutex_) = false;  // for the alarm, which must not outlive the call
  size_t received_bytes_ ABSL_GUARDED_BY(mutex_) = 0, sent_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<CallEnd> end_;  // set once, by Pump
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
