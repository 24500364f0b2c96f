#include "server/grpc/method_service.h"

#include <grpcpp/impl/codegen/server_callback_handlers.h>

#include <atomic>
#include <memory>
#include <utility>

#include "server/base/methods.h"
#include "server/grpc/grpc_caller.h"
#include "server/grpc/raw_message.h"
#include "server/grpc/stream_calls.h"

namespace dragoman {
namespace {

using grpc::ByteBuffer;
using grpc::internal::RpcServiceMethod;

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
class UnaryCall final : public grpc::ServerUnaryReactor {
 public:
  UnaryCall(const ServerParts* parts, grpc::CallbackServerContext* context, ByteBuffer* response)
      : parts_(parts), context_(context), response_(response) {}

  // REQUIRES: called once, before the handler returns this reactor.
  UnaryCall* Start(const Method& method, Caller caller, const ByteBuffer& request) {
    exchange_ =
        method.exchange(parts_, method.name, std::move(caller),
                        [this, bytes = request.Length()](const CallEnd& end, const auto* answer) {
                          held_ = end.held;
                          const grpc::Status status = EndOf(end, answer, bytes);
                          handover_.Give();
                          Finish(status);
                        });
    exchange_->Start([&](google::protobuf::Message* message) {
      return ReadMessage(request, parts_->max_message_bytes, message);
    });
    return this;
  }

  void OnCancel() override { exchange_->Cancel(); }
  void OnDone() override {
    handover_.Take();
    delete this;
  }
  bool InternalInlineable() override { return true; }

 private:
  // The status of the call; writes its answer if it succeeded, and counts it and the messages'
  // bytes.
  grpc::Status EndOf(const CallEnd& end, const google::protobuf::Message* answer,
                     size_t request_bytes) {
    const grpc::Status status = ToGrpcStatus(end, context_);
    if (status.ok()) {
      *response_ = Serialized(*answer);
      held_->Set(response_->Length());
    }
    parts_->metrics->OnRpcMessages(end.method, end.status.code(), request_bytes,
                                   response_->Length());
    return status;
  }

  const ServerParts* const parts_;
  grpc::CallbackServerContext* const context_;
  ByteBuffer* const response_;
  std::shared_ptr<HeldAnswer> held_;  // until OnDone
  Handover handover_;
  std::unique_ptr<UnaryExchange> exchange_;
};

}  // namespace

MethodService::MethodService(const ServerParts* parts, std::string name,
                             const std::vector<Method>& methods, bool of_owner)
    : parts_(parts), name_(std::move(name)), of_owner_(of_owner) {
  paths_.reserve(methods.size());  // gRPC keeps pointers into them
  for (const Method& method : methods) {
    const std::string rpc = RpcOf(method);
    if (rpc.starts_with(name_ + "/")) Add(method, paths_.emplace_back("/" + rpc));
  }
}

void MethodService::Add(const Method& method, const std::string& path) {
  const int index = static_cast<int>(paths_.size()) - 1;
  if (method.exchange == nullptr) {
    const StreamHandler stream = NewStreamHandler(parts_, method.name);
    AddMethod(new RpcServiceMethod(path.c_str(), stream.type, nullptr));
    return MarkMethodRawCallback(index, stream.handler);
  }
  const char* const api = AdminMethodOf(method.name).has_value() ? "admin" : method.api;
  AddMethod(new RpcServiceMethod(path.c_str(), grpc::internal::RpcMethod::NORMAL_RPC, nullptr));
  MarkMethodRawCallback(index,
                        new grpc::internal::CallbackUnaryHandler<ByteBuffer, ByteBuffer>(
                            [this, &method, api](grpc::CallbackServerContext* context,
                                                 const ByteBuffer* request, ByteBuffer* response) {
                              Caller caller = CallerOf(*context, method.key);
                              caller.api = api;
                              caller.is_owner = of_owner_;
                              caller.message_bytes = request->Length();
                              auto* const call = new UnaryCall(parts_, context, response);
                              return call->Start(method, std::move(caller), *request);
                            }));
}

}  // namespace dragoman
