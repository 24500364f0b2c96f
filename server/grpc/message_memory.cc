#include "server/grpc/message_memory.h"

#include <google/protobuf/message.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>

#include "absl/container/flat_hash_map.h"

namespace dragoman {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::MessageFactory;
using google::protobuf::io::CodedInputStream;
using WireFormat = google::protobuf::internal::WireFormatLite;

// A block of the heap has 16 bytes more than is used.  A list that grows is copied to one twice as
// large, so an entry may take three times its size; a short list has room for four.
constexpr size_t kBlock = 16, kGrowth = 3, kShortList = 64;
constexpr size_t kPointers = kGrowth * sizeof(void*);
constexpr size_t kString = sizeof(std::string) + kBlock;
constexpr int kWithin = 15;       // bytes that a string has without a block; it grows to twice that
constexpr size_t kUnknown = 96;   // a field that is not in the proto is kept, too
constexpr int kMostLevels = 100;  // protobuf parses no more

class Walk {
 public:
  explicit Walk(CodedInputStream* in) : in_(in) {}

  // False where nothing more can be read.  `type` is null in a group, which no proto of ours has.
  bool Message(const Descriptor* type, int levels) {
    if (levels > kMostLevels) return false;
    uint32_t last = 0;
    const FieldDescriptor* field = nullptr;
    size_t each = 0;
    while (const uint32_t tag = in_->ReadTag()) {
      const WireFormat::WireType kind = WireFormat::GetTagWireType(tag);
      if (kind == WireFormat::WIRETYPE_END_GROUP) return type == nullptr;
      if (tag != last) {
        field = type == nullptr ? nullptr : FieldOf(*type, tag);
        each = Entry(field);
        if (field == nullptr || field->is_repeated()) bytes_ += kShortList;
        last = tag;
      }
      bytes_ += each;
      if (!Value(kind, field, levels)) return false;
    }
    return in_->ConsumedEntireMessage();
  }

  size_t bytes() const { return bytes_; }

 private:
  // Null if a value of this wire type is kept as one of an unknown field.
  static const FieldDescriptor* FieldOf(const Descriptor& type, uint32_t tag) {
    const FieldDescriptor* const field = type.FindFieldByNumber(WireFormat::GetTagFieldNumber(tag));
    if (field == nullptr) return nullptr;
    const WireFormat::WireType kind = WireFormat::GetTagWireType(tag);
    const auto declared = static_cast<WireFormat::FieldType>(field->type());
    const bool packed = field->is_packable() && kind == WireFormat::WIRETYPE_LENGTH_DELIMITED;
    return packed || kind == WireFormat::WireTypeForFieldType(declared) ? field : nullptr;
  }
  static bool IsMessage(const FieldDescriptor& field) {
    return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
  }
  static size_t Width(const FieldDescriptor& field) {
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT64:
      case FieldDescriptor::CPPTYPE_UINT64:
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return 8;
      default:
        return 4;
    }
  }

  // What each value of a field takes besides what is in it.
  size_t Entry(const FieldDescriptor* field) {
    if (field == nullptr) return kUnknown;
    const size_t listed = field->is_repeated() ? kPointers : 0;
    if (IsMessage(*field)) {
      size_t& bytes = objects_[field->message_type()];
      if (bytes == 0) {
        const auto& message =
            *MessageFactory::generated_factory()->GetPrototype(field->message_type());
        bytes = message.SpaceUsedLong() + kBlock;
      }
      return bytes + listed;
    }
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) return kString + listed;
    return field->is_repeated() ? kGrowth * Width(*field) : 0;
  }

  bool Value(WireFormat::WireType kind, const FieldDescriptor* field, int levels) {
    uint64_t number = 0;
    switch (kind) {
      case WireFormat::WIRETYPE_VARINT:
        return in_->ReadVarint64(&number);
      case WireFormat::WIRETYPE_FIXED64:
        return in_->Skip(8);
      case WireFormat::WIRETYPE_FIXED32:
        return in_->Skip(4);
      case WireFormat::WIRETYPE_START_GROUP:
        return Message(nullptr, levels + 1);
      default:
        return Content(field, levels);
    }
  }

  bool Content(const FieldDescriptor* field, int levels) {
    int size = 0;
    if (!in_->ReadVarintSizeAsInt(&size)) return false;
    if (field != nullptr && IsMessage(*field)) {
      const CodedInputStream::Limit limit = in_->PushLimit(size);
      const bool whole = Message(field->message_type(), levels + 1);
      in_->PopLimit(limit);
      return whole;
    }
    const bool packed = field != nullptr && field->is_packable();
    if (packed) bytes_ += kGrowth * Width(*field) * static_cast<size_t>(size);
    if (!packed && size > kWithin) bytes_ += static_cast<size_t>(std::max(size, 2 * kWithin) + 24);
    return in_->Skip(size);
  }

  CodedInputStream* const in_;
  size_t bytes_ = 0;
  absl::flat_hash_map<const Descriptor*, size_t> objects_;
};

}  // namespace

size_t MemoryOfParsed(const Descriptor& type, CodedInputStream* message) {
  Walk walk(message);
  walk.Message(&type, 0);
  return walk.bytes();
}

}  // namespace dragoman
