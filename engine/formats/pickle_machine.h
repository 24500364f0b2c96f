// A stack machine that runs Python's pickles as far as they describe tensors, and nothing else.
//
// A value is pushed by one instruction and taken by a later one:
//
//   X "weight"          push a string
//   c torch._utils _rebuild_tensor_v2, (, ..., t, R     call a function with a tuple
//
// Functions are mere names here.  The machine accepts those that describe a tensor and refuses all
// others, so no code in a pickle is ever run.  Opcodes as in Python's pickletools.

#ifndef DRAGOMAN_ENGINE_FORMATS_PICKLE_MACHINE_H_
#define DRAGOMAN_ENGINE_FORMATS_PICKLE_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/formats/checkpoint.h"

namespace dragoman {

enum class PickleKind { kMark, kNone, kNumber, kString, kItems, kGlobal, kStorage, kTensor };

// A value of the machine.  Values refer to each other by their index in PickleMachine::values_, so
// a value that contains itself does no harm.
struct PickleValue {
  PickleKind kind = PickleKind::kNone;
  int64_t number = 0;         // kNumber; kStorage: elements; kTensor: the offset
  std::string_view text;      // kString; kGlobal: module; kStorage: key
  std::string_view name;      // kGlobal
  DType dtype = DType::kF32;  // kStorage
  int storage = -1;           // kTensor: the index of its storage
  // kItems: the elements of a tuple or list; for a dictionary: key, value, key, value. kTensor: the
  // shape, then the strides.
  std::vector<int64_t> items;
};

// INVALID_ARGUMENT: "the pickle `what`".
absl::Status PickleError(std::string_view what);

// Values refer to the bytes of the pickle, which must outlive the machine.
class PickleMachine {
 public:
  explicit PickleMachine(absl::Span<const std::byte> bytes) : bytes_(bytes) {}

  // Runs to the end of the pickle.  Returns the place of its value.
  absl::StatusOr<int> Run();

  absl::Span<const std::byte> rest() const { return bytes_; }
  const PickleValue& at(int64_t place) const { return values_[place]; }

 private:
  // Reading the file.
  absl::StatusOr<std::string_view> ReadBytes(uint64_t count);
  template <typename Number>
  absl::StatusOr<Number> ReadNumber();
  absl::StatusOr<std::string_view> ReadLine();

  // The stack.
  void Push(PickleValue value);
  void PushNumber(int64_t number) { Push({.kind = PickleKind::kNumber, .number = number}); }
  absl::StatusOr<int> Pop();
  // Pops the last `count` values, or everything above the mark.
  absl::StatusOr<std::vector<int64_t>> PopItems(size_t count);
  absl::StatusOr<std::vector<int64_t>> PopToMark();
  absl::Status PushItems(absl::StatusOr<std::vector<int64_t>> items);
  // Appends to the list or dictionary on top of the stack.
  absl::Status Append(absl::StatusOr<std::vector<int64_t>> items);

  // The instructions.
  absl::Status Step(uint8_t code);
  absl::Status PushString(uint64_t size);
  absl::Status PushLong();
  absl::Status PushGlobal(std::string_view module, std::string_view name);
  absl::Status PushStackGlobal();
  absl::Status Remember(uint64_t key);
  absl::Status Recall(uint64_t key);
  absl::Status Build();
  absl::Status Call();
  absl::Status PushStorage();
  absl::Status PushTensor(const std::vector<int64_t>& arguments);
  absl::Status ReadDimensions(int64_t place, std::vector<int64_t>* to) const;

  absl::Span<const std::byte> bytes_;
  std::vector<PickleValue> values_;
  std::vector<int> stack_;
  std::map<uint64_t, int> memo_;
  size_t items_ = 0;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_FORMATS_PICKLE_MACHINE_H_
