// The message of a call that has only one, read after its headers have been judged.
//
// gRPC reads the message of a unary call before it tells anybody of the call, and while it arrives
// there is no limit: a message may announce 4 GiB, and 1,000 callers without a token may send one
// each.  So our unary methods are registered as methods whose client streams, which looks the same
// on the wire: gRPC tells of them when their headers have come, and takes no more than a window of
// 64 KiB of a message that nobody reads.
//
//   AddMethod(new RpcServiceMethod(path, RpcMethod::CLIENT_STREAMING, nullptr));
//   MarkMethodRawCallback(i, new HeadersFirst<CallbackUnaryHandler<Incoming, ByteBuffer>>(
//                                [](context, const Incoming* incoming, response) { ... }));
//   ...
//   message_.Read(*incoming, owner, judge, then);  // by the handler's reactor
//
// A message that came with its headers is there at once, on the same thread: a short call takes no
// longer than if gRPC had read it.

#ifndef DRAGOMAN_SERVER_GRPC_FIRST_MESSAGE_H_
#define DRAGOMAN_SERVER_GRPC_FIRST_MESSAGE_H_

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/call_op_set.h>
#include <grpcpp/impl/codegen/server_callback_handlers.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "engine/base/not_copyable.h"
#include "server/base/shared_budget.h"

namespace dragoman {

// A message that has not been read.
struct Incoming {
  grpc::internal::Call call;
};

// Room for a message of somebody who need not be known, from this address (SharedBudget::Take).
using RoomForAnybody = std::function<absl::StatusOr<Share>(const std::string& peer)>;

// A handler of gRPC's whose requests are of type Incoming.
template <typename Handler>
class HeadersFirst final : public grpc::internal::MethodHandler {
 public:
  template <typename GetReactor>
  explicit HeadersFirst(GetReactor get_reactor) : handler_(std::move(get_reactor)) {}

  void RunHandler(const HandlerParameter& call) override {
    void* data = nullptr;
    grpc::Status status;
    void* const request = handler_.Deserialize(call.call->call(), nullptr, &status, &data);
    static_cast<Incoming*>(request)->call = *call.call;
    handler_.RunHandler(HandlerParameter(call.call, call.server_context, request, status, data,
                                         call.call_requester));
  }

 private:
  Handler handler_;
};

// Thread-safe.
class FirstMessage : private NotCopyable {
 public:
  using Then = std::function<void(const absl::Status&)>;

  // Calls `then` once, before it returns or later on another thread: with OK when the message has
  // come, or the call has ended without one; or with the error of `judge`, which is asked for room
  // if the message has not come yet.  The room is returned when it has.  `owner`, of which this is
  // a part, lives until nothing can arrive any more and `then` has returned.  REQUIRES: called
  // once, in the call's handler.
  void Read(const Incoming& incoming, std::shared_ptr<void> owner,
            absl::FunctionRef<absl::StatusOr<Share>()> judge, Then then);

  // Not valid if there is none.  REQUIRES: `then` was called with OK.
  grpc::ByteBuffer* bytes() { return &bytes_; }

  // For two of whom one begins what the other cancels.  Whether the other one has come before: then
  // this one cancels it.
  bool Meet() { return met_.exchange(true); }

 private:
  bool has_arrived();
  void OnArrival();

  grpc::internal::CallOpSet<grpc::internal::CallOpRecvMessage<grpc::ByteBuffer>> read_;
  grpc::internal::CallbackWithSuccessTag arrival_;
  grpc::ByteBuffer bytes_;
  std::atomic<bool> met_ = false;

  absl::Mutex mutex_;
  bool arrived_ ABSL_GUARDED_BY(mutex_) = false;
  std::shared_ptr<void> owner_ ABSL_GUARDED_BY(mutex_);  // until it has arrived
  Share room_ ABSL_GUARDED_BY(mutex_);                   // likewise, like what is called then,
  Then then_ ABSL_GUARDED_BY(mutex_);                    // if Read has returned before,
  std::string peer_ ABSL_GUARDED_BY(mutex_);             // and of whom it is
};

}  // namespace dragoman

namespace grpc {

// Nothing is read.
template <>
class SerializationTraits<dragoman::Incoming> {
 public:
  static Status Deserialize(ByteBuffer*, dragoman::Incoming*) { return Status::OK; }
};

}  // namespace grpc

#endif  // DRAGOMAN_SERVER_GRPC_FIRST_MESSAGE_H_
