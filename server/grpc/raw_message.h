// Reads and writes the messages of all methods, which are served from raw bytes: gRPC itself would
// answer a message that does not parse with a bare UNIMPLEMENTED, and a text that is not UTF-8 does
// not parse.

#ifndef DRAGOMAN_SERVER_GRPC_RAW_MESSAGE_H_
#define DRAGOMAN_SERVER_GRPC_RAW_MESSAGE_H_

#include <google/protobuf/message.h>
#include <grpcpp/grpcpp.h>

#include <string>

#include "absl/status/statusor.h"
#include "server/api/bulk_exchange.h"

namespace dragoman {

// Reads the request of a method.
// CANCELLED if the call ended before the message arrived; RESOURCE_EXHAUSTED if it is too long;
// INVALID_ARGUMENT, with the field, if it is malformed; UNIMPLEMENTED if it is compressed.
absl::Status ReadMessage(const grpc::ByteBuffer& bytes, size_t max_bytes,
                         google::protobuf::Message* message);

// The most bytes of a request that names a service or an interval.  Its call may last for hours.
inline constexpr size_t kMostOfSmall = 4096;

// What the message takes when it is parsed, beyond MemoryOfMessage.
size_t MoreMemoryOf(const grpc::ByteBuffer& bytes, const google::protobuf::Descriptor& type);

// Reads one request of a bulk call, which is parsed later.  What is wrong in the request becomes
// its own error; the function returns an error only if the whole call is affected, because nobody
// can tell which request is meant.
absl::StatusOr<BulkExchange::Item> ReadBulkRequest(const grpc::ByteBuffer& bytes, size_t max_bytes);

// A message of a stream; one that was serialized already is not copied.
grpc::ByteBuffer Serialized(std::string message);
grpc::ByteBuffer Serialized(const google::protobuf::Message& message);

// The field of the first string in the message that is not UTF-8, such as "contents[3]" or
// "options.glossary[0].source"; "" if there is none.
std::string FindInvalidUtf8(const google::protobuf::Message& message);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_GRPC_RAW_MESSAGE_H_
