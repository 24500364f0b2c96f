// What is reserved for a message against what it takes: for every method of the API and of others,
// every field of its request, however it is written.

#include "server/grpc/message_memory.h"

#include <google/protobuf/message.h>
#include <google/protobuf/wire_format_lite.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "server/api/methods.h"
#include "server/compat/rpc.h"

namespace dragoman {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::MessageFactory;
using Wire = google::protobuf::internal::WireFormatLite;

size_t Counted(const Descriptor& type, const std::string& bytes) {
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(bytes.data()),
                                            static_cast<int>(bytes.size()));
  return MemoryOfParsed(type, &in);
}

// What the heap has for it.
size_t Taken(const Descriptor& type, const std::string& bytes) {
  const std::unique_ptr<Message> message(
      MessageFactory::generated_factory()->GetPrototype(&type)->New());
  const auto in_use = [] {
    const struct mallinfo2 heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
  };
  const size_t before = in_use();
  message->ParseFromString(bytes);  // or as far as it goes
  const size_t after = in_use();
  return after - std::min(after, before);
}

void PutVarint(uint64_t value, std::string* out) {
  for (; value >= 128; value >>= 7) out->push_back(static_cast<char>(value | 128));
  out->push_back(static_cast<char>(value));
}

std::string Tag(int number, Wire::WireType kind) {
  std::string tag;
  PutVarint(Wire::MakeTag(number, kind), &tag);
  return tag;
}

std::string Block(int number, const std::string& content) {
  std::string block = Tag(number, Wire::WIRETYPE_LENGTH_DELIMITED);
  PutVarint(content.size(), &block);
  return block + content;
}

// All ways to write one value of any field, known or not, as short as it can be.
std::vector<std::string> Values(const Descriptor& type) {
  std::vector<int> numbers = {15, 2000};
  for (int i = 0; i < type.field_count(); ++i) numbers.push_back(type.field(i)->number());
  std::vector<std::string> values;
  for (const int number : numbers) {
    values.push_back(Tag(number, Wire::WIRETYPE_VARINT) + "\1");
    values.push_back(Tag(number, Wire::WIRETYPE_FIXED32) + "\1\1\1\1");
    values.push_back(Tag(number, Wire::WIRETYPE_START_GROUP) +
                     Tag(number, Wire::WIRETYPE_END_GROUP));
    for (const size_t size : {0, 1, 16, 40}) values.push_back(Block(number, std::string(size, 1)));
  }
  return values;
}

// Calls `see` for all messages in this one, and for how one of them is written inside of it.
template <typename See>
void ForEachInside(const Descriptor& type, const std::vector<int>& path, const See& see) {
  see(type, path);
  for (int i = 0; i < type.field_count() && path.size() < 5; ++i) {
    if (type.field(i)->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    std::vector<int> further = path;
    further.push_back(type.field(i)->number());
    ForEachInside(*type.field(i)->message_type(), further, see);
  }
}

std::string Inside(const std::vector<int>& path, std::string content) {
  for (auto number = path.rbegin(); number != path.rend(); ++number) {
    content = Block(*number, content);
  }
  return content;
}

std::string Times(size_t count, const std::string& text) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += text;
  return all;
}

TEST(MessageMemory, IsNotLessThanARequestOfAnyMethodTakes) {
  std::vector<Method> methods = dragoman::Methods();
  for (const Method& method : CompatMethods()) methods.push_back(method);
  int seen = 0;
  for (const Method& method : methods) {
    const Descriptor& type =
        *DescriptorPool::generated_pool()
             ->FindMethodByName(absl::StrReplaceAll(RpcOf(method), {{"/", "."}}))
             ->input_type();
    ForEachInside(type, {}, [&](const Descriptor& inner, const std::vector<int>& path) {
      for (const std::string& value : Values(inner)) {
        // Many in one message, and many messages of one.
        std::vector<std::string> all = {Inside(path, Times(1000, value))};
        if (!path.empty()) all.push_back(Times(500, Inside(path, value)));
        if (path.size() > 1) {
          const std::vector<int> last = {path.back()}, rest(path.begin(), path.end() - 1);
          all.push_back(Inside(rest, Times(500, Inside(last, value))));
        }
        for (const std::string& bytes : all) {
          ++seen;
          const size_t taken = Taken(type, bytes), counted = Counted(type, bytes);
          ASSERT_LE(taken, counted + 1000)
              << RpcOf(method) << " " << inner.name() << " " << bytes.size() << " bytes, tag "
              << static_cast<int>(value[0]);
        }
      }
    });
  }
  EXPECT_GT(seen, 1000);
}

TEST(MessageMemory, IsLittleMoreThanOrdinaryMessagesTake) {
  v1::TranslateRequest request;
  for (int i = 0; i < 100; ++i) request.add_contents(std::string(200, 'a'));
  for (int i = 0; i < 1000; ++i) {
    v1::GlossaryEntry* const entry = request.mutable_options()->add_glossary();
    entry->set_source("The old cat");
    entry->add_targets("Die alte Katze");
  }
  const std::string bytes = request.SerializeAsString();
  EXPECT_LT(Counted(*request.GetDescriptor(), bytes), 2 * request.SpaceUsedLong());
  EXPECT_LT(Counted(*request.GetDescriptor(), bytes), 16 * bytes.size());
}

TEST(MessageMemory, OfAMessageThatNestsTooDeeplyEnds) {
  const Descriptor& type = *v1::TranslateRequest::descriptor();
  EXPECT_LT(Counted(type, Times(100'000, Tag(2000, Wire::WIRETYPE_START_GROUP))), 100'000);
}

}  // namespace
}  // namespace dragoman
