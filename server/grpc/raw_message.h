// Reads and writes the messages of all methods, which are served from raw bytes: gRPC itself would
// answer a message that does not parse with a bare UNIMPLEMENTED, and a text that is not UTF-8 does
// not parse.

#ifndef DRAGOMAN_SERVER_GRPC_RAW_MESSAGE_H_
#define DRAGOMAN_SERVER_GRPC_RAW_MESSAGE_H_

#include <google/protobuf/message.h>
#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "dragoman/v1/admin.pb.h"
#include "dragoman/v1/translation.pb.h"
#include "server/api/bulk_exchange.h"
#include "server/grpc/grpc_caller.h"

namespace dragoman {

// Reads the request of a method.
// CANCELLED if the call ended before the message arrived; RESOURCE_EXHAUSTED if it is too long;
// INVALID_ARGUMENT, with the field, if it is malformed; UNIMPLEMENTED if it is compressed.
template <typename Message>
absl::StatusOr<Message> ReadMessage(const grpc::ByteBuffer& bytes, size_t max_bytes);

// Reads one request of a bulk call.  What is wrong in the request becomes its own error; the
// function returns an error only if the whole call is affected, because nobody can tell which
// request is meant.
absl::StatusOr<BulkExchange::Item> ReadBulkRequest(const grpc::ByteBuffer& bytes, size_t max_bytes);

// A message of a stream; one that was serialized already is not copied.
grpc::ByteBuffer Serialized(std::string message);
template <typename Message>
grpc::ByteBuffer Serialized(const Message& message) {
  grpc::ByteBuffer bytes;
  bool own_buffer;
  // Fails only if memory does.
  grpc::SerializationTraits<Message>::Serialize(message, &bytes, &own_buffer);
  return bytes;
}

// A call of one message for one, as gRPC hands it over.
struct RawCall {
  grpc::CallbackServerContext* context;
  size_t request_bytes;
  grpc::ByteBuffer* response;
  Metrics* metrics;
};

// The status of a call that has ended; writes its answer if it succeeded, and counts it (end.held)
// and the messages' bytes.
template <typename Message>
grpc::Status EndOf(const CallEnd& end, const Message& answer, const RawCall& call) {
  grpc::Status status = ToGrpcStatus(end, call.context);
  if (status.ok()) {
    bool own_buffer;
    status = grpc::SerializationTraits<Message>::Serialize(answer, call.response, &own_buffer);
    end.held->Set(call.response->Length());
  }
  call.metrics->OnRpcMessages(end.method, end.status.code(), call.request_bytes,
                              call.response->Length());
  return status;
}

// A call that was answered at once; keeps its answer counted until it is sent.  Deletes itself.
class AnsweredCall final : public grpc::ServerUnaryReactor {
 public:
  template <typename Message>
  AnsweredCall(const CallEnd& end, const Message& answer, const RawCall& call) : held_(end.held) {
    Finish(EndOf(end, answer, call));
  }
  void OnDone() override { delete this; }

 private:
  const std::shared_ptr<HeldAnswer> held_;
};

// Answers a call of `method`, a literal, by calling `answer`.
template <typename Request, typename Response>
grpc::ServerUnaryReactor* AnswerMethod(const char* method, UnaryMethod<Request, Response>* answer,
                                       const ServerParts& parts,
                                       grpc::CallbackServerContext* context,
                                       const grpc::ByteBuffer& request,
                                       grpc::ByteBuffer* response) {
  Call call(&parts, method, CallerOf(*context));
  const absl::StatusOr<Response> answered =
      answer([&] { return ReadMessage<Request>(request, parts.max_message_bytes); }, parts, &call);
  return new AnsweredCall(call.End(answered.status()), answered.ok() ? *answered : Response(),
                          {context, request.Length(), response, parts.metrics});
}

// The field of the first string in the message that is not UTF-8, such as "contents[3]" or
// "options.glossary[0].source"; "" if there is none.
std::string FindInvalidUtf8(const google::protobuf::Message& message);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_GRPC_RAW_MESSAGE_H_
