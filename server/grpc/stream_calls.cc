// Every event of a call (the exchange has something to send, a message was written or read, a timer
// fires) leads to Pump, which does everything that can be done now.  One thread at a time pumps,
// and checks again for what has come up meanwhile. gRPC's operations may call back before they
// return, so Pump decides under the lock and acts outside of it.

#include "server/grpc/stream_calls.h"

#include <grpcpp/alarm.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "dragoman/v1/translation.grpc.pb.h"
#include "server/api/bulk_exchange.h"
#include "server/api/stream_exchange.h"
#include "server/grpc/grpc_door.h"
#include "server/grpc/raw_message.h"

namespace dragoman {
namespace {

// A message that was serialized already, without copying it.
grpc::ByteBuffer ToBuffer(std::string message) {
  auto* const owned = new std::string(std::move(message));
  const grpc::Slice slice(
      owned->data(), owned->size(), [](void* text) { delete static_cast<std::string*>(text); },
      owned);
  return grpc::ByteBuffer(&slice, 1);
}

// Owns itself until OnDone.  The exchange may call back after that, so it holds only a weak
// pointer.
class StreamCall : public grpc::ServerWriteReactor<grpc::ByteBuffer>,
                   public std::enable_shared_from_this<StreamCall> {
 public:
  StreamCall(const ServerParts* parts, grpc::CallbackServerContext* context)
      : parts_(parts), context_(context) {}

  void Start(const grpc::ByteBuffer& request) {
    self_ = shared_from_this();
    exchange_.emplace(parts_, "TranslateStream", CallerOf(*context_), [weak = weak_from_this()] {
      if (const auto call = weak.lock()) call->Pump();
    });
    exchange_->Start(
        [&] { return ReadMessage<v1::TranslateRequest>(request, parts_->max_message_bytes); });
  }

  void OnWriteDone(bool ok) override {
    {
      absl::MutexLock lock(&mutex_);
      message_.Clear();
      writing_ = false;
    }
    if (!ok) exchange_->Cancel();
    Pump();
  }
  void OnCancel() override { exchange_->Cancel(); }
  void OnDone() override { const auto last = std::move(self_); }

 private:
  void Pump() {
    mutex_.Lock();
    if (pumping_) return mutex_.Unlock();
    pumping_ = true;
    while (!writing_) {
      StreamEvent event = exchange_->Next();
      if (!event.message.has_value() && !event.end.has_value()) break;
      writing_ = true;
      mutex_.Unlock();
      // After Finish the call may be gone; pumping_ stays set.
      if (event.end.has_value()) return Finish(ToGrpcStatus(*event.end, context_));
      grpc::ByteBuffer message = Serialized(*event.message);
      mutex_.Lock();
      message_ = message;
      mutex_.Unlock();
      StartWrite(&message_);
      mutex_.Lock();
    }
    pumping_ = false;
    mutex_.Unlock();
  }

  const ServerParts* const parts_;
  grpc::CallbackServerContext* const context_;
  std::shared_ptr<StreamCall> self_;
  std::optional<TranslateStreamExchange> exchange_;
  grpc::ByteBuffer message_;  // that is being written

  absl::Mutex mutex_;
  bool pumping_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
};

// Also owns itself until OnDone.
class BulkCall : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                 public std::enable_shared_from_this<BulkCall> {
 public:
  BulkCall(const ServerParts* parts, grpc::CallbackServerContext* context)
      : parts_(parts), context_(context) {}

  void Start() {
    self_ = shared_from_this();
    exchange_ =
        std::make_shared<BulkExchange>(parts_, CallerOf(*context_), [weak = weak_from_this()] {
          if (const auto call = weak.lock()) call->Pump();
        });
    exchange_->Start();
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      exchange_->NoMore();
    } else {
      absl::StatusOr<BulkExchange::Item> item =
          ReadBulkRequest(incoming_, parts_->max_message_bytes);
      incoming_.Clear();
      if (item.ok()) {
        exchange_->Add(*std::move(item));
      } else {
        exchange_->NoMore(item.status());
      }
    }
    {
      absl::MutexLock lock(&mutex_);
      reading_ = false;
    }
    Pump();
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

 private:
  void Pump() {
    mutex_.Lock();
    if (pumping_) return mutex_.Unlock();
    pumping_ = true;
    while (true) {
      BulkEvent event;
      if (!writing_) event = exchange_->Next();
      if (event.end.has_value()) end_ = std::move(event.end);
      const bool write = event.message.has_value();
      const bool read = !end_.has_value() && !reading_ && exchange_->HasRoom();
      const bool wait = !end_.has_value() && !waiting_ && exchange_->WantsRetry();
      const bool finish = end_.has_value() && !waiting_;
      if (!write && !read && !wait && !finish) break;
      if (write) {
        held_ = std::move(event.held);
        outgoing_ = ToBuffer(*std::move(event.message));
      }
      writing_ = writing_ || write;
      reading_ = reading_ || read;
      waiting_ = waiting_ || wait;
      mutex_.Unlock();
      // After Finish the call may be gone; pumping_ stays set.
      if (finish) return Finish(ToGrpcStatus(*end_, context_));
      if (write) StartWrite(&outgoing_);
      if (read) StartRead(&incoming_);
      if (wait) RetrySoon();
      mutex_.Lock();
    }
    pumping_ = false;
    mutex_.Unlock();
  }

  // Each wait has its own alarm, because one that has fired may still be in its callback.  The call
  // does not end before that (waiting_).
  void RetrySoon() {
    const auto when =
        std::chrono::system_clock::now() + absl::ToChronoMilliseconds(BulkExchange::kRetryDelay);
    alarm_ = std::make_unique<grpc::Alarm>();
    alarm_->Set(when, [this](bool) {
      const auto self = shared_from_this();
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
  std::shared_ptr<BulkCall> self_;
  std::shared_ptr<BulkExchange> exchange_;
  grpc::ByteBuffer incoming_, outgoing_;  // being read and written
  std::shared_ptr<HeldAnswer> held_;      // outgoing_
  std::unique_ptr<grpc::Alarm> alarm_;

  absl::Mutex mutex_;
  bool pumping_ ABSL_GUARDED_BY(mutex_) = false;
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool waiting_ ABSL_GUARDED_BY(mutex_) = false;  // for the alarm, which must not outlive the call
  std::optional<CallEnd> end_;                    // set once, by Pump
};

}  // namespace

grpc::ServerWriteReactor<grpc::ByteBuffer>* NewStreamCall(const ServerParts* parts,
                                                          grpc::CallbackServerContext* context,
                                                          const grpc::ByteBuffer& request) {
  const auto call = std::make_shared<StreamCall>(parts, context);
  call->Start(request);
  return call.get();
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* NewBulkCall(
    const ServerParts* parts, grpc::CallbackServerContext* context) {
  const auto call = std::make_shared<BulkCall>(parts, context);
  call->Start();
  return call.get();
}

}  // namespace dragoman
