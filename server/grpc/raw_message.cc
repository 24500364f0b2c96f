#include "server/grpc/raw_message.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "server/base/errors.h"
#include "server/config/config.h"
#include "server/grpc/message_memory.h"

namespace dragoman {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::Message;

// Whether bytes that do not parse begin like gzip (RFC 1952) or zlib (RFC 1950).
bool LooksCompressed(const grpc::ByteBuffer& bytes) {
  grpc::Slice slice;
  if (!bytes.TrySingleSlice(&slice).ok() && !bytes.DumpToSingleSlice(&slice).ok()) return false;
  if (slice.size() < 2) return false;
  const int first = slice.begin()[0], second = slice.begin()[1];
  return (first == 0x1F && second == 0x8B) || (first == 0x78 && (first << 8 | second) % 31 == 0);
}

// False if the bytes do not parse; then the message is what the parser had read before it stopped,
// including a string that is not UTF-8.
bool ParseFrom(const grpc::ByteBuffer& bytes, Message* message) {
  grpc::ByteBuffer buffer = bytes;  // reading it consumes it; the slices are shared
  return grpc::SerializationTraits<Message>::Deserialize(&buffer, message).ok();
}

using google::protobuf::io::CodedInputStream;

// Calls `read` with the bytes of a message.
template <typename Read>
auto ReadFrom(const grpc::ByteBuffer& bytes, Read read) {
  grpc::ByteBuffer buffer = bytes;
  grpc::ProtoBufferReader reader(&buffer);
  CodedInputStream in(&reader);
  return read(&in);
}

// The id of a request of a bulk call whose other fields are not parsed; nothing if nobody can say
// where they end.
std::optional<std::string> IdOf(CodedInputStream* in, size_t max_bytes) {
  using Wire = google::protobuf::internal::WireFormatLite;
  constexpr uint32_t kIdTag =
      Wire::MakeTag(v1::TranslateBulkRequest::kIdFieldNumber, Wire::WIRETYPE_LENGTH_DELIMITED);
  std::string id;
  while (const uint32_t tag = in->ReadTag()) {
    uint32_t size = 0;
    const bool more = tag != kIdTag ? Wire::SkipField(in, tag)
                                    : in->ReadVarint32(&size) && size <= max_bytes &&
                                          in->ReadString(&id, static_cast<int>(size));
    if (!more) return std::nullopt;
  }
  return in->ConsumedEntireMessage() ? std::optional(std::move(id)) : std::nullopt;
}

absl::Status NotParsed(const grpc::ByteBuffer& bytes, const std::string& wanted) {
  if (LooksCompressed(bytes)) {
    return absl::UnimplementedError(
        "compressed messages are not accepted: a few bytes may expand to any size");
  }
  return InvalidArgumentError("the message is not a ", wanted);
}

}  // namespace

// gRPC passes on whatever came: no message if the call ended before it arrived, one that exceeds
// the limit, though not by much (grpc_port.cc), or a compressed one as it is.
absl::Status ReadMessage(const grpc::ByteBuffer& bytes, size_t max_bytes, Message* message) {
  if (!bytes.Valid()) return absl::CancelledError("the client went away");
  if (bytes.Length() > max_bytes) return MessageTooLarge(bytes.Length(), max_bytes);
  if (ParseFrom(bytes, message)) return absl::OkStatus();
  if (const std::string field = FindInvalidUtf8(*message); !field.empty()) {
    return InvalidField(field, "is not valid UTF-8");
  }
  return NotParsed(bytes, message->GetDescriptor()->name());
}

grpc::ByteBuffer Serialized(std::string message) {
  auto* const owned = new std::string(std::move(message));
  const grpc::Slice slice(
      owned->data(), owned->size(), [](void* text) { delete static_cast<std::string*>(text); },
      owned);
  return grpc::ByteBuffer(&slice, 1);
}

grpc::ByteBuffer Serialized(const Message& message) {
  grpc::ByteBuffer bytes;
  bool own_buffer;
  // Fails only if memory does.
  grpc::SerializationTraits<Message>::Serialize(message, &bytes, &own_buffer);
  return bytes;
}

// Looks at every string and message that is set, in the order of their numbers.
std::string FindInvalidUtf8(const Message& message) {
  using Field = google::protobuf::FieldDescriptor;
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  std::vector<const Field*> fields;
  reflection.ListFields(message, &fields);
  for (const Field* const field : fields) {
    const bool repeated = field->is_repeated();
    const int count = repeated ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      const std::string name =
          repeated ? field->name() + "[" + std::to_string(i) + "]" : field->name();
      if (field->type() == Field::TYPE_STRING) {
        std::string scratch;
        const std::string& text =
            repeated ? reflection.GetRepeatedStringReference(message, field, i, &scratch)
                     : reflection.GetStringReference(message, field, &scratch);
        if (!IsValidUtf8(text)) return name;
      } else if (field->cpp_type() == Field::CPPTYPE_MESSAGE) {
        const std::string inner =
            FindInvalidUtf8(repeated ? reflection.GetRepeatedMessage(message, field, i)
                                     : reflection.GetMessage(message, field));
        if (!inner.empty()) return name + "." + inner;
      }
    }
  }
  return "";
}

size_t MoreMemoryOf(const grpc::ByteBuffer& bytes, const Descriptor& type) {
  if (!bytes.Valid()) return 0;
  const size_t parsed =
      ReadFrom(bytes, [&](CodedInputStream* in) { return MemoryOfParsed(type, in); });
  return parsed - std::min(parsed, MemoryOfMessage(bytes.Length()));
}

absl::StatusOr<BulkExchange::Item> ReadBulkRequest(const grpc::ByteBuffer& bytes,
                                                   size_t max_bytes) {
  std::optional<std::string> id =
      ReadFrom(bytes, [&](CodedInputStream* in) { return IdOf(in, max_bytes); });
  if (!id.has_value()) return NotParsed(bytes, "TranslateBulkRequest");
  if (!IsValidUtf8(*id)) return InvalidField("id", "is not valid UTF-8");
  BulkExchange::Item item = {.id = *std::move(id), .bytes = bytes.Length()};
  if (bytes.Length() > max_bytes) {
    item.request = MessageTooLarge(bytes.Length(), max_bytes);
    return item;
  }
  item.more_bytes = MoreMemoryOf(bytes, *v1::TranslateBulkRequest::descriptor());
  grpc::Slice copy;  // so that nothing of gRPC's is kept
  if (!bytes.DumpToSingleSlice(&copy).ok()) return NotParsed(bytes, "TranslateBulkRequest");
  item.read = [copy]() -> absl::StatusOr<v1::TranslateRequest> {
    v1::TranslateBulkRequest message;
    const bool parsed = message.ParseFromArray(copy.begin(), static_cast<int>(copy.size()));
    if (parsed) return std::move(*message.mutable_request());
    if (const std::string field = FindInvalidUtf8(message.request()); !field.empty()) {
      return InvalidField(field, "is not valid UTF-8");
    }
    return absl::InvalidArgumentError("the message is not a TranslateBulkRequest");
  };
  return item;
}

}  // namespace dragoman
