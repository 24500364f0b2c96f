// As the calls in stream_calls.cc: every event leads to Pump.

#include <grpcpp/grpcpp.h>

#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "dragoman/v1/translation.grpc.pb.h"
#include "server/api/document_exchange.h"
#include "server/grpc/grpc_door.h"
#include "server/grpc/raw_message.h"
#include "server/grpc/stream_calls.h"

namespace dragoman {
namespace {

// Owns itself until OnDone.  The exchange may call back after that, so it holds only a weak
// pointer.
class DocumentCall : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                     public std::enable_shared_from_this<DocumentCall> {
 public:
  DocumentCall(const ServerParts* parts, grpc::CallbackServerContext* context)
      : parts_(parts), context_(context) {}

  void Start() {
    self_ = shared_from_this();
    exchange_ =
        std::make_shared<DocumentExchange>(parts_, CallerOf(*context_), [weak = weak_from_this()] {
          if (const auto call = weak.lock()) call->Pump();
        });
    exchange_->Start();
    Pump();
  }

  void OnReadDone(bool ok) override {
    if (ok) {
      exchange_->Add(
          ReadMessage<v1::TranslateDocumentRequest>(incoming_, parts_->max_message_bytes));
      incoming_.Clear();
    } else {
      exchange_->NoMore();
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
      DocumentEvent event;
      if (!writing_) event = exchange_->Next();
      const bool write = event.message.has_value();
      const bool read = !event.end.has_value() && !reading_ && exchange_->HasRoom();
      if (!write && !read && !event.end.has_value()) break;
      if (write) outgoing_ = Serialized(*event.message);
      writing_ = writing_ || write;
      reading_ = reading_ || read;
      mutex_.Unlock();
      // After Finish the call may be gone; pumping_ stays set.
      if (event.end.has_value()) return Finish(ToGrpcStatus(*event.end, context_));
      if (write) StartWrite(&outgoing_);
      if (read) StartRead(&incoming_);
      mutex_.Lock();
    }
    pumping_ = false;
    mutex_.Unlock();
  }

  const ServerParts* const parts_;
  grpc::CallbackServerContext* const context_;
  std::shared_ptr<DocumentCall> self_;
  std::shared_ptr<DocumentExchange> exchange_;
  grpc::ByteBuffer incoming_, outgoing_;  // being read and written

  absl::Mutex mutex_;
  bool pumping_ ABSL_GUARDED_BY(mutex_) = false;
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* NewDocumentCall(
    const ServerParts* parts, grpc::CallbackServerContext* context) {
  const auto call = std::make_shared<DocumentCall>(parts, context);
  call->Start();
  return call.get();
}

}  // namespace dragoman
