#include "engine/formats/torch_pickle.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

// Limits far above any model.  A file beyond them tries to exhaust memory.
constexpr size_t kMaxSteps = 1 << 24;
constexpr size_t kMaxValues = 1 << 19;
constexpr size_t kMaxItems = 1 << 21;  // of all tuples, lists and dictionaries together

enum class Kind { kMark, kNone, kNumber, kString, kItems, kGlobal, kStorage, kTensor };

// A value of the machine.  Values refer to each other by their index in Machine::values_, so a
// value that contains itself does no harm.
struct Value {
  Kind kind = Kind::kNone;
  int64_t number = 0;         // kNumber; kStorage: elements; kTensor: the offset
  std::string_view text;      // kString; kGlobal: module; kStorage: key
  std::string_view name;      // kGlobal
  DType dtype = DType::kF32;  // kStorage
  int storage = -1;           // kTensor: the index of its storage
  // kItems: the elements of a tuple or list; for a dictionary: key, value, key, value. kTensor: the
  // shape, then the strides.
  std::vector<int64_t> items;
};

constexpr std::pair<std::string_view, DType> kStorages[] = {
    {"FloatStorage", DType::kF32},  {"HalfStorage", DType::kF16}, {"BFloat16Storage", DType::kBF16},
    {"DoubleStorage", DType::kF64}, {"CharStorage", DType::kI8},  {"ShortStorage", DType::kI16},
    {"IntStorage", DType::kI32},    {"LongStorage", DType::kI64}, {"ByteStorage", DType::kU8},
    {"BoolStorage", DType::kBool}};

std::optional<DType> StorageType(const Value& value) {
  if (value.kind != Kind::kGlobal || value.text != "torch") return std::nullopt;
  for (const auto& [name, dtype] : kStorages) {
    if (value.name == name) return dtype;
  }
  return std::nullopt;
}

// The functions that may be called.  All of them only describe data.
enum class Function { kDictionary, kTensor, kParameter };

std::optional<Function> FunctionOf(std::string_view module, std::string_view name) {
  if (module == "collections" && name == "OrderedDict") return Function::kDictionary;
  if (module != "torch._utils") return std::nullopt;
  if (name == "_rebuild_tensor_v2" || name == "_rebuild_tensor") return Function::kTensor;
  if (name == "_rebuild_parameter") return Function::kParameter;
  return std::nullopt;
}

absl::Status Wrong(std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("the pickle ", std::string(what)));
}

class Machine {
 public:
  explicit Machine(absl::Span<const std::byte> bytes) : bytes_(bytes) {}

  // Runs to the end of the pickle.  Returns the index of its value.
  absl::StatusOr<int> Run() {
    for (size_t step = 0; step < kMaxSteps; ++step) {
      ASSIGN_OR_RETURN(const uint8_t code, ReadNumber<uint8_t>());
      if (code == '.') return Pop();
      if (absl::Status status = Step(code); !status.ok()) return status;
      if (std::max({values_.size(), stack_.size(), memo_.size()}) > kMaxValues) break;
      if (items_ > kMaxItems) break;
    }
    return Wrong("has more values than any model");
  }

  absl::Span<const std::byte> rest() const { return bytes_; }
  const Value& at(int64_t place) const { return values_[place]; }

 private:
  // --- reading the file
  absl::StatusOr<std::string_view> ReadBytes(uint64_t count) {
    if (count > bytes_.size()) return Wrong("is cut off");
    const std::string_view text(reinterpret_cast<const char*>(bytes_.data()), count);
    bytes_.remove_prefix(count);
    return text;
  }
  template <typename Number>
  absl::StatusOr<Number> ReadNumber() {
    ASSIGN_OR_RETURN(const std::string_view raw, ReadBytes(sizeof(Number)));
    Number number;
    std::memcpy(&number, raw.data(), sizeof(number));
    return number;
  }
  absl::StatusOr<std::string_view> ReadLine() {
    const void* end = bytes_.empty() ? nullptr : std::memchr(bytes_.data(), '\n', bytes_.size());
    if (end == nullptr) return Wrong("is cut off");
    ASSIGN_OR_RETURN(const std::string_view line,
                     ReadBytes(static_cast<const std::byte*>(end) - bytes_.data()));
    bytes_.remove_prefix(1);
    return line;
  }

  // --- the stack
  void Push(Value value) {
    values_.push_back(std::move(value));
    stack_.push_back(static_cast<int>(values_.size()) - 1);
  }
  void PushNumber(int64_t number) { Push({.kind = Kind::kNumber, .number = number}); }
  absl::StatusOr<int> Pop() {
    if (stack_.empty()) return Wrong("takes a value that is not there");
    const int place = stack_.back();
    stack_.pop_back();
    return place;
  }
  // Pops the last `count` values, or everything above the mark.
  absl::StatusOr<std::vector<int64_t>> PopItems(size_t count) {
    if (stack_.size() < count) return Wrong("takes values that are not there");
    std::vector<int64_t> items(stack_.end() - static_cast<ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    items_ += items.size();
    return items;
  }
  absl::StatusOr<std::vector<int64_t>> PopToMark() {
    const auto mark = std::find_if(stack_.rbegin(), stack_.rend(), [this](int place) {
      return values_[place].kind == Kind::kMark;
    });
    if (mark == stack_.rend()) return Wrong("takes values above a mark that is not there");
    ASSIGN_OR_RETURN(std::vector<int64_t> items, PopItems(mark - stack_.rbegin()));
    stack_.pop_back();
    return items;
  }
  absl::Status PushItems(absl::StatusOr<std::vector<int64_t>> items) {
    if (!items.ok()) return items.status();
    Push({.kind = Kind::kItems, .items = *std::move(items)});
    return absl::OkStatus();
  }
  // Appends to the list or dictionary on top of the stack.
  absl::Status Append(absl::StatusOr<std::vector<int64_t>> items) {
    if (!items.ok()) return items.status();
    if (stack_.empty() || values_[stack_.back()].kind != Kind::kItems) {
      return Wrong("appends to what is not a list");
    }
    std::vector<int64_t>& to = values_[stack_.back()].items;
    to.insert(to.end(), items->begin(), items->end());
    return absl::OkStatus();
  }

  // --- the instructions
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
  std::vector<Value> values_;
  std::vector<int> stack_;
  std::map<uint64_t, int> memo_;
  size_t items_ = 0;
};

// The opcodes, as Python's pickletools names and explains them.
absl::Status Machine::Step(uint8_t code) {
  switch (code) {
    case 0x80:  // PROTO
      return ReadNumber<uint8_t>().status();
    case 0x95:  // FRAME
      return ReadNumber<uint64_t>().status();
    case '(':  // MARK
      Push({.kind = Kind::kMark});
      return absl::OkStatus();
    case '0':  // POP
      return Pop().status();
    case '1':  // POP_MARK
      return PopToMark().status();
    case 'N':  // NONE
      Push({});
      return absl::OkStatus();
    case 0x88:  // NEWTRUE
    case 0x89:  // NEWFALSE
      PushNumber(code == 0x88);
      return absl::OkStatus();
    case 'J': {  // BININT
      ASSIGN_OR_RETURN(const int32_t number, ReadNumber<int32_t>());
      PushNumber(number);
      return absl::OkStatus();
    }
    case 'K': {  // BININT1
      ASSIGN_OR_RETURN(const uint8_t number, ReadNumber<uint8_t>());
      PushNumber(number);
      return absl::OkStatus();
    }
    case 'M': {  // BININT2
      ASSIGN_OR_RETURN(const uint16_t number, ReadNumber<uint16_t>());
      PushNumber(number);
      return absl::OkStatus();
    }
    case 0x8a:  // LONG1
      return PushLong();
    case 'G':  // BINFLOAT: no float matters here
      Push({});
      return ReadNumber<uint64_t>().status();
    case 'X': {  // BINUNICODE
      ASSIGN_OR_RETURN(const uint32_t size, ReadNumber<uint32_t>());
      return PushString(size);
    }
    case 'T': {  // BINSTRING
      ASSIGN_OR_RETURN(const uint32_t size, ReadNumber<uint32_t>());
      return PushString(size);
    }
    case 0x8c:   // SHORT_BINUNICODE
    case 'U': {  // SHORT_BINSTRING
      ASSIGN_OR_RETURN(const uint8_t size, ReadNumber<uint8_t>());
      return PushString(size);
    }
    case ')':  // EMPTY_TUPLE
    case ']':  // EMPTY_LIST
    case '}':  // EMPTY_DICT
      return PushItems(std::vector<int64_t>());
    case 0x85:  // TUPLE1
    case 0x86:  // TUPLE2
    case 0x87:  // TUPLE3
      return PushItems(PopItems(code - 0x84));
    case 't':  // TUPLE
    case 'l':  // LIST
    case 'd':  // DICT
      return PushItems(PopToMark());
    case 'a':  // APPEND
      return Append(PopItems(1));
    case 's':  // SETITEM
      return Append(PopItems(2));
    case 'e':  // APPENDS
    case 'u':  // SETITEMS
      return Append(PopToMark());
    case 'q': {  // BINPUT
      ASSIGN_OR_RETURN(const uint8_t key, ReadNumber<uint8_t>());
      return Remember(key);
    }
    case 'r': {  // LONG_BINPUT
      ASSIGN_OR_RETURN(const uint32_t key, ReadNumber<uint32_t>());
      return Remember(key);
    }
    case 0x94:  // MEMOIZE
      return Remember(memo_.size());
    case 'h': {  // BINGET
      ASSIGN_OR_RETURN(const uint8_t key, ReadNumber<uint8_t>());
      return Recall(key);
    }
    case 'j': {  // LONG_BINGET
      ASSIGN_OR_RETURN(const uint32_t key, ReadNumber<uint32_t>());
      return Recall(key);
    }
    case 'c': {  // GLOBAL
      ASSIGN_OR_RETURN(const std::string_view module, ReadLine());
      ASSIGN_OR_RETURN(const std::string_view name, ReadLine());
      return PushGlobal(module, name);
    }
    case 0x93:  // STACK_GLOBAL
      return PushStackGlobal();
    case 'Q':  // BINPERSID
      return PushStorage();
    case 'R':  // REDUCE
      return Call();
    case 'b':  // BUILD
      return Build();
    default:
      return Wrong(absl::StrCat("does what a dictionary of tensors never does: step 0x",
                                absl::Hex(code), "; nothing of it was run"));
  }
}

absl::Status Machine::PushString(uint64_t size) {
  ASSIGN_OR_RETURN(const std::string_view text, ReadBytes(size));
  Push({.kind = Kind::kString, .text = text});
  return absl::OkStatus();
}

// A little-endian number of any length.  A number that does not fit in 64 bits (the magic number of
// the old format) does not matter.
absl::Status Machine::PushLong() {
  ASSIGN_OR_RETURN(const uint8_t size, ReadNumber<uint8_t>());
  ASSIGN_OR_RETURN(const std::string_view raw, ReadBytes(size));
  if (size > sizeof(int64_t)) {
    Push({});
    return absl::OkStatus();
  }
  int64_t number = size > 0 && (raw.back() & 0x80) != 0 ? -1 : 0;
  std::memcpy(&number, raw.data(), size);
  PushNumber(number);
  return absl::OkStatus();
}

absl::Status Machine::PushGlobal(std::string_view module, std::string_view name) {
  Value global{.kind = Kind::kGlobal, .text = module, .name = name};
  if (!FunctionOf(module, name).has_value() && !StorageType(global).has_value()) {
    constexpr size_t kLongest = 100;
    return Wrong(absl::StrCat("wants ", std::string(module.substr(0, kLongest)), ".",
                              std::string(name.substr(0, kLongest)),
                              ", which describes no tensor; nothing of it was run"));
  }
  Push(std::move(global));
  return absl::OkStatus();
}

absl::Status Machine::PushStackGlobal() {
  ASSIGN_OR_RETURN(const int name, Pop());
  ASSIGN_OR_RETURN(const int module, Pop());
  if (values_[module].kind != Kind::kString || values_[name].kind != Kind::kString) {
    return Wrong("names a function by what is not a string");
  }
  return PushGlobal(values_[module].text, values_[name].text);
}

absl::Status Machine::Remember(uint64_t key) {
  if (stack_.empty()) return Wrong("remembers a value that is not there");
  memo_[key] = stack_.back();
  return absl::OkStatus();
}

absl::Status Machine::Recall(uint64_t key) {
  const auto it = memo_.find(key);
  if (it == memo_.end()) return Wrong("recalls a value that it never remembered");
  stack_.push_back(it->second);
  return absl::OkStatus();
}

// Sets attributes, such as _metadata of a dictionary.  None of them matters.
absl::Status Machine::Build() {
  RETURN_IF_ERROR(Pop().status());
  if (stack_.empty()) return Wrong("takes a value that is not there");
  return absl::OkStatus();
}

absl::Status Machine::Call() {
  ASSIGN_OR_RETURN(const int arguments, Pop());
  ASSIGN_OR_RETURN(const int callee, Pop());
  const Value& global = values_[callee];
  const std::optional<Function> function =
      global.kind == Kind::kGlobal ? FunctionOf(global.text, global.name) : std::nullopt;
  if (!function.has_value() || values_[arguments].kind != Kind::kItems) {
    return Wrong("calls what is not a function");
  }
  const std::vector<int64_t>& items = values_[arguments].items;
  switch (*function) {
    case Function::kDictionary: {
      if (items.empty()) return PushItems(std::vector<int64_t>());
      std::vector<int64_t> pairs;  // OrderedDict([(key, value), ...]), as Python 2 wrote it
      if (values_[items[0]].kind != Kind::kItems) return Wrong("makes a dictionary of no list");
      for (const int64_t pair : values_[items[0]].items) {
        if (values_[pair].kind != Kind::kItems || values_[pair].items.size() != 2) {
          return Wrong("makes a dictionary of what are no pairs");
        }
        pairs.insert(pairs.end(), values_[pair].items.begin(), values_[pair].items.end());
      }
      items_ += pairs.size();
      return PushItems(std::move(pairs));
    }
    case Function::kTensor:
      return PushTensor(items);
    case Function::kParameter:
      if (items.empty() || values_[items[0]].kind != Kind::kTensor) {
        return Wrong("makes a parameter of what is not a tensor");
      }
      stack_.push_back(static_cast<int>(items[0]));
      return absl::OkStatus();
  }
  return Wrong("calls what is not a function");
}

// ("storage", type, key, device, elements); the old format adds a view: None, or (key, offset,
// elements) for a part of another storage.
absl::Status Machine::PushStorage() {
  ASSIGN_OR_RETURN(const int id, Pop());
  const Value& tuple = values_[id];
  const absl::Status wrong = Wrong("describes a storage otherwise than torch.save does");
  if (tuple.kind != Kind::kItems || tuple.items.size() < 5) return wrong;
  const Value& key = values_[tuple.items[2]];
  const Value& elements = values_[tuple.items[4]];
  const std::optional<DType> dtype = StorageType(values_[tuple.items[1]]);
  if (values_[tuple.items[0]].text != "storage" || key.kind != Kind::kString ||
      elements.kind != Kind::kNumber || !dtype.has_value()) {
    return wrong;
  }
  if (tuple.items.size() > 5 && values_[tuple.items[5]].kind != Kind::kNone) {
    return Wrong("has a storage that is a view of another; save the model anew");
  }
  Push({.kind = Kind::kStorage, .number = elements.number, .text = key.text, .dtype = *dtype});
  return absl::OkStatus();
}

// _rebuild_tensor_v2(storage, offset, shape, strides, ...).
absl::Status Machine::PushTensor(const std::vector<int64_t>& arguments) {
  const absl::Status wrong = Wrong("describes a tensor otherwise than torch.save does");
  if (arguments.size() < 4 || values_[arguments[0]].kind != Kind::kStorage ||
      values_[arguments[1]].kind != Kind::kNumber) {
    return wrong;
  }
  Value tensor{.kind = Kind::kTensor, .number = values_[arguments[1]].number};
  tensor.storage = static_cast<int>(arguments[0]);
  RETURN_IF_ERROR(ReadDimensions(arguments[2], &tensor.items));
  const size_t rank = tensor.items.size();
  RETURN_IF_ERROR(ReadDimensions(arguments[3], &tensor.items));
  if (tensor.items.size() != 2 * rank) return wrong;
  items_ += tensor.items.size();
  Push(std::move(tensor));
  return absl::OkStatus();
}

absl::Status Machine::ReadDimensions(int64_t place, std::vector<int64_t>* to) const {
  constexpr size_t kMaxDimensions = 8;
  const Value& tuple = values_[place];
  if (tuple.kind != Kind::kItems || tuple.items.size() > kMaxDimensions) {
    return Wrong(
        absl::StrCat("has a tensor without a shape, want up to ", kMaxDimensions, " dimensions"));
  }
  for (const int64_t item : tuple.items) {
    if (values_[item].kind != Kind::kNumber) return Wrong("has a dimension that is not a number");
    to->push_back(values_[item].number);
  }
  return absl::OkStatus();
}

TorchTensor Describe(const Machine& machine, std::string_view name, const Value& value) {
  const Value& storage = machine.at(value.storage);
  const auto middle = value.items.begin() + static_cast<ptrdiff_t>(value.items.size() / 2);
  TorchTensor tensor;
  tensor.name = std::string(name);
  tensor.dtype = storage.dtype;
  tensor.storage = std::string(storage.text);
  tensor.storage_elements = storage.number;
  tensor.offset = value.number;
  tensor.shape.assign(value.items.begin(), middle);
  tensor.strides.assign(middle, value.items.end());
  return tensor;
}

}  // namespace

absl::StatusOr<std::vector<TorchTensor>> ReadTensorPickle(absl::Span<const std::byte>* bytes) {
  Machine machine(*bytes);
  ASSIGN_OR_RETURN(const int place, machine.Run());
  *bytes = machine.rest();
  const Value& dictionary = machine.at(place);
  if (dictionary.kind != Kind::kItems || dictionary.items.size() % 2 != 0) {
    return Wrong("holds no dictionary of tensors");
  }
  std::vector<TorchTensor> tensors;
  for (size_t i = 0; i + 1 < dictionary.items.size(); i += 2) {
    const Value& name = machine.at(dictionary.items[i]);
    const Value& value = machine.at(dictionary.items[i + 1]);
    if (name.kind == Kind::kString && value.kind == Kind::kTensor) {
      tensors.push_back(Describe(machine, name.text, value));
    }
  }
  if (tensors.empty()) return Wrong("holds no tensor by a name");
  return tensors;
}

absl::StatusOr<std::vector<std::string>> ReadKeysPickle(absl::Span<const std::byte>* bytes) {
  Machine machine(*bytes);
  ASSIGN_OR_RETURN(const int place, machine.Run());
  *bytes = machine.rest();
  if (machine.at(place).kind != Kind::kItems) return Wrong("holds no list of keys");
  std::vector<std::string> keys;
  for (const int64_t item : machine.at(place).items) {
    if (machine.at(item).kind != Kind::kString) return Wrong("has a key that is not a string");
    keys.emplace_back(machine.at(item).text);
  }
  return keys;
}

absl::Status SkipPickle(absl::Span<const std::byte>* bytes) {
  Machine machine(*bytes);
  RETURN_IF_ERROR(machine.Run().status());
  *bytes = machine.rest();
  return absl::OkStatus();
}

}  // namespace dragoman
