#include "server/grpc/method_service.h"

#include <memory>
#include <utility>

#include "absl/strings/str_replace.h"
#include "engine/base/status.h"
#include "server/base/methods.h"
#include "server/grpc/first_message.h"
#include "server/grpc/grpc_caller.h"
#include "server/grpc/handover.h"
#include "server/grpc/raw_message.h"
#include "server/grpc/stream_calls.h"

namespace dragoman {
namespace {

using google::protobuf::Descriptor;
using grpc::ByteBuffer;
using grpc::internal::RpcServiceMethod;

// A call of one message for one.  It owns itself until OnDone, and its message, while that arrives,
// owns it too.
//
// Both reactions are short and wait for nothing, so gRPC runs them where it is (InternalInlineable)
// instead of waking another thread for each, which would cost a short call a tenth of its time.
class UnaryCall final : public grpc::ServerUnaryReactor,
                        public std::enable_shared_from_this<UnaryCall> {
 public:
  UnaryCall(const ServerParts* parts, grpc::CallbackServerContext* context, ByteBuffer* response)
      : parts_(parts), context_(context), response_(response) {}

  // REQUIRES: called once, before the handler returns this reactor.
  UnaryCall* Start(const Method& method, const Descriptor& type, Caller caller,
                   const Incoming& incoming) {
    self_ = shared_from_this();
    caller_ = std::move(caller);
    message_.Read(
        incoming, self_, [&] { return RoomForMessage(*parts_, method, caller_); },
        [this, &method, &type](const absl::Status& status) { Begin(method, type, status); });
    return this;
  }

  void OnCancel() override {
    if (message_.Meet()) exchange_->Cancel();
    handover_.Give();
  }
  void OnDone() override {
    handover_.Take();
    exchange_ = nullptr;
    const auto last = std::move(self_);
  }
  bool InternalInlineable() override { return true; }

 private:
  // The message has come or, after an error, is not waited for.
  void Begin(const Method& method, const Descriptor& type, const absl::Status& waited) {
    if (waited.ok()) {
      received_ = caller_.message_bytes = message_.bytes()->Length();
      caller_.more_bytes = MoreMemoryOf(*message_.bytes(), type);
    }
    // The call may end before this does.
    const std::shared_ptr<UnaryExchange> exchange =
        method.exchange(parts_, method.name, std::move(caller_),
                        [this](const CallEnd& end, const google::protobuf::Message* answer) {
                          held_ = end.held;
                          const grpc::Status status = EndOf(end, answer);
                          handover_.Give();
                          Finish(status);
                        });
    exchange_ = exchange;
    exchange->Start([&](google::protobuf::Message* message) {
      RETURN_IF_ERROR(waited);
      return ReadMessage(*message_.bytes(), parts_->max_message_bytes, message);
    });
    if (message_.Meet()) exchange->Cancel();
  }

  // The status of the call; writes its answer if it succeeded, and counts it and the messages'
  // bytes.
  grpc::Status EndOf(const CallEnd& end, const google::protobuf::Message* answer) {
    const grpc::Status status = ToGrpcStatus(end, context_);
    if (status.ok()) {
      *response_ = Serialized(*answer);
      held_->Set(response_->Length());
    }
    parts_->metrics->OnRpcMessages(end.method, end.status.code(), received_, response_->Length());
    return status;
  }

  const ServerParts* const parts_;
  grpc::CallbackServerContext* const context_;
  ByteBuffer* const response_;
  std::shared_ptr<UnaryCall> self_;   // until OnDone
  std::shared_ptr<HeldAnswer> held_;  // likewise
  FirstMessage message_;
  Caller caller_;        // until Begin
  size_t received_ = 0;  // bytes
  Handover handover_;
  std::shared_ptr<UnaryExchange> exchange_;  // until OnDone
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
    AddMethod(
        new RpcServiceMethod(path.c_str(), grpc::internal::RpcMethod::BIDI_STREAMING, nullptr));
    return MarkMethodRawCallback(index, NewStreamHandler(parts_, method.name));
  }
  const char* const api = AdminMethodOf(method.name).has_value() ? "admin" : method.api;
  AddMethod(
      new RpcServiceMethod(path.c_str(), grpc::internal::RpcMethod::CLIENT_STREAMING, nullptr));
  const Descriptor& type =
      *google::protobuf::DescriptorPool::generated_pool()
           ->FindMethodByName(absl::StrReplaceAll(path.substr(1), {{"/", "."}}))
           ->input_type();
  MarkMethodRawCallback(
      index, new HeadersFirst<grpc::internal::CallbackUnaryHandler<Incoming, ByteBuffer>>(
                 [this, &method, &type, api](grpc::CallbackServerContext* context,
                                             const Incoming* incoming, ByteBuffer* response) {
                   Caller caller = CallerOf(*context, method.key);
                   caller.api = api;
                   caller.is_owner = of_owner_;
                   const auto call = std::make_shared<UnaryCall>(parts_, context, response);
                   return call->Start(method, type, std::move(caller), *incoming);
                 }));
}

}  // namespace dragoman
