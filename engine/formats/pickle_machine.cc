#include "engine/formats/pickle_machine.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

// Limits far above any model.  A file beyond them tries to exhaust memory.
constexpr size_t kMaxSteps = 1 << 24;
constexpr size_t kMaxValues = 1 << 19;
constexpr size_t kMaxItems = 1 << 21;  // of all tuples, lists and dictionaries together

constexpr std::pair<std::string_view, DType> kStorages[] = {
    {"FloatStorage", DType::kF32},  {"HalfStorage", DType::kF16}, {"BFloat16Storage", DType::kBF16},
    {"DoubleStorage", DType::kF64}, {"CharStorage", DType::kI8},  {"ShortStorage", DType::kI16},
    {"IntStorage", DType::kI32},    {"LongStorage", DType::kI64}, {"ByteStorage", DType::kU8},
    {"BoolStorage", DType::kBool}};

std::optional<DType> StorageType(const PickleValue& value) {
  if (value.kind != PickleKind::kGlobal || value.text != "torch") return std::nullopt;
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

// Runs one pickle.
class PickleMachine {
 public:
  explicit PickleMachine(absl::Span<const std::byte> bytes) : bytes_(bytes) {}

  // Behind what was run.
  absl::Span<const std::byte> rest() const { return bytes_; }

  absl::StatusOr<Pickle> Run() {
    for (size_t step = 0; step < kMaxSteps; ++step) {
      ASSIGN_OR_RETURN(const uint8_t code, ReadNumber<uint8_t>());
      if (code == '.') {
        ASSIGN_OR_RETURN(const int root, Pop());
        return Pickle{std::move(values_), root};
      }
      if (absl::Status status = Step(code); !status.ok()) return status;
      if (std::max({values_.size(), stack_.size(), memo_.size()}) > kMaxValues) break;
      if (items_ > kMaxItems) break;
    }
    return PickleError("has more values than any model");
  }

 private:
  // Reading the file.
  absl::StatusOr<std::string_view> ReadBytes(uint64_t count) {
    if (count > bytes_.size()) return PickleError("is cut off");
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
  // Calls `act` with a number that is read.
  template <typename Number>
  absl::Status With(absl::Status (PickleMachine::*act)(int64_t number)) {
    ASSIGN_OR_RETURN(const Number number, ReadNumber<Number>());
    return (this->*act)(number);
  }

  absl::StatusOr<std::string_view> ReadLine() {
    const void* end = bytes_.empty() ? nullptr : std::memchr(bytes_.data(), '\n', bytes_.size());
    if (end == nullptr) return PickleError("is cut off");
    ASSIGN_OR_RETURN(const std::string_view line,
                     ReadBytes(static_cast<const std::byte*>(end) - bytes_.data()));
    bytes_.remove_prefix(1);
    return line;
  }

  // The stack.
  void Push(PickleValue value) {
    values_.push_back(std::move(value));
    stack_.push_back(static_cast<int>(values_.size()) - 1);
  }

  absl::Status PushNumber(int64_t number) {
    Push({.kind = PickleKind::kNumber, .number = number});
    return absl::OkStatus();
  }

  absl::StatusOr<int> Pop() {
    if (stack_.empty()) return PickleError("takes a value that is not there");
    const int place = stack_.back();
    stack_.pop_back();
    return place;
  }

  // Pops the last `count` values, or everything above the mark.
  absl::StatusOr<std::vector<int64_t>> PopItems(size_t count) {
    if (stack_.size() < count) return PickleError("takes values that are not there");
    std::vector<int64_t> items(stack_.end() - static_cast<ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    items_ += items.size();
    return items;
  }

  absl::StatusOr<std::vector<int64_t>> PopToMark() {
    const auto mark = std::find_if(stack_.rbegin(), stack_.rend(), [this](int place) {
      return values_[place].kind == PickleKind::kMark;
    });
    if (mark == stack_.rend()) return PickleError("takes values above a mark that is not there");
    ASSIGN_OR_RETURN(std::vector<int64_t> items, PopItems(mark - stack_.rbegin()));
    stack_.pop_back();
    return items;
  }

  absl::Status PushItems(absl::StatusOr<std::vector<int64_t>> items) {
    if (!items.ok()) return items.status();
    Push({.kind = PickleKind::kItems, .items = *std::move(items)});
    return absl::OkStatus();
  }

  // Appends to the list or dictionary on top of the stack.
  absl::Status Append(absl::StatusOr<std::vector<int64_t>> items) {
    if (!items.ok()) return items.status();
    if (stack_.empty() || values_[stack_.back()].kind != PickleKind::kItems) {
      return PickleError("appends to what is not a list");
    }
    std::vector<int64_t>& to = values_[stack_.back()].items;
    to.insert(to.end(), items->begin(), items->end());
    return absl::OkStatus();
  }

  // The instructions, whose codes Python's pickletools names and explains.
  absl::Status Step(uint8_t code) {
    switch (code) {
      case 0x80:  // PROTO
        return ReadNumber<uint8_t>().status();
      case 0x95:  // FRAME
        return ReadNumber<uint64_t>().status();
      case '(':  // MARK
        Push({.kind = PickleKind::kMark});
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
        return PushNumber(code == 0x88);
      case 'J':  // BININT
        return With<int32_t>(&PickleMachine::PushNumber);
      case 'K':  // BININT1
        return With<uint8_t>(&PickleMachine::PushNumber);
      case 'M':  // BININT2
        return With<uint16_t>(&PickleMachine::PushNumber);
      case 0x8a:  // LONG1
        return PushLong();
      case 'G':  // BINFLOAT: no float matters here
        Push({});
        return ReadNumber<uint64_t>().status();
      case 'X':  // BINUNICODE
      case 'T':  // BINSTRING
        return With<uint32_t>(&PickleMachine::PushString);
      case 0x8c:  // SHORT_BINUNICODE
      case 'U':   // SHORT_BINSTRING
        return With<uint8_t>(&PickleMachine::PushString);
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
      case 'q':  // BINPUT
        return With<uint8_t>(&PickleMachine::Remember);
      case 'r':  // LONG_BINPUT
        return With<uint32_t>(&PickleMachine::Remember);
      case 0x94:  // MEMOIZE
        return Remember(memo_.size());
      case 'h':  // BINGET
        return With<uint8_t>(&PickleMachine::Recall);
      case 'j':  // LONG_BINGET
        return With<uint32_t>(&PickleMachine::Recall);
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
        return PickleError(absl::StrCat("does what a dictionary of tensors never does: step 0x",
                                        absl::Hex(code), "; nothing of it was run"));
    }
  }

  absl::Status PushString(int64_t size) {
    ASSIGN_OR_RETURN(const std::string_view text, ReadBytes(size));
    Push({.kind = PickleKind::kString, .text = text});
    return absl::OkStatus();
  }

  // A little-endian number of any length.  A number that does not fit in 64 bits (the magic number
  // of the old format) does not matter.
  absl::Status PushLong() {
    ASSIGN_OR_RETURN(const uint8_t size, ReadNumber<uint8_t>());
    ASSIGN_OR_RETURN(const std::string_view raw, ReadBytes(size));
    if (size > sizeof(int64_t)) {
      Push({});
      return absl::OkStatus();
    }
    int64_t number = size > 0 && (raw.back() & 0x80) != 0 ? -1 : 0;
    std::memcpy(&number, raw.data(), size);
    return PushNumber(number);
  }

  absl::Status PushGlobal(std::string_view module, std::string_view name) {
    PickleValue global{.kind = PickleKind::kGlobal, .text = module, .name = name};
    if (!FunctionOf(module, name).has_value() && !StorageType(global).has_value()) {
      constexpr size_t kLongest = 100;
      return PickleError(absl::StrCat("wants ", std::string(module.substr(0, kLongest)), ".",
                                      std::string(name.substr(0, kLongest)),
                                      ", which describes no tensor; nothing of it was run"));
    }
    Push(std::move(global));
    return absl::OkStatus();
  }

  absl::Status PushStackGlobal() {
    ASSIGN_OR_RETURN(const int name, Pop());
    ASSIGN_OR_RETURN(const int module, Pop());
    if (values_[module].kind != PickleKind::kString || values_[name].kind != PickleKind::kString) {
      return PickleError("names a function by what is not a string");
    }
    return PushGlobal(values_[module].text, values_[name].text);
  }

  absl::Status Remember(int64_t key) {
    if (stack_.empty()) return PickleError("remembers a value that is not there");
    memo_[key] = stack_.back();
    return absl::OkStatus();
  }

  absl::Status Recall(int64_t key) {
    const auto it = memo_.find(key);
    if (it == memo_.end()) return PickleError("recalls a value that it never remembered");
    stack_.push_back(it->second);
    return absl::OkStatus();
  }

  // Sets attributes, such as _metadata of a dictionary.  None of them matters.
  absl::Status Build() {
    RETURN_IF_ERROR(Pop().status());
    if (stack_.empty()) return PickleError("takes a value that is not there");
    return absl::OkStatus();
  }

  absl::Status Call() {
    ASSIGN_OR_RETURN(const int arguments, Pop());
    ASSIGN_OR_RETURN(const int callee, Pop());
    const PickleValue& global = values_[callee];
    const std::optional<Function> function =
        global.kind == PickleKind::kGlobal ? FunctionOf(global.text, global.name) : std::nullopt;
    if (!function.has_value() || values_[arguments].kind != PickleKind::kItems) {
      return PickleError("calls what is not a function");
    }
    const std::vector<int64_t>& items = values_[arguments].items;
    switch (*function) {
      case Function::kDictionary: {
        if (items.empty()) return PushItems(std::vector<int64_t>());
        std::vector<int64_t> pairs;  // OrderedDict([(key, value), ...]), as Python 2 wrote it
        if (values_[items[0]].kind != PickleKind::kItems)
          return PickleError("makes a dictionary of something other than a list");
        for (const int64_t pair : values_[items[0]].items) {
          if (values_[pair].kind != PickleKind::kItems || values_[pair].items.size() != 2) {
            return PickleError("makes a dictionary of something other than pairs");
          }
          pairs.insert(pairs.end(), values_[pair].items.begin(), values_[pair].items.end());
        }
        items_ += pairs.size();
        return PushItems(std::move(pairs));
      }
      case Function::kTensor:
        return PushTensor(items);
      case Function::kParameter:
        if (items.empty() || values_[items[0]].kind != PickleKind::kTensor) {
          return PickleError("makes a parameter of what is not a tensor");
        }
        stack_.push_back(static_cast<int>(items[0]));
        return absl::OkStatus();
    }
    return PickleError("calls what is not a function");
  }

  // ("storage", type, key, device, elements); the old format adds a view: None, or (key, offset,
  // elements) for a part of another storage.
  absl::Status PushStorage() {
    ASSIGN_OR_RETURN(const int id, Pop());
    const PickleValue& tuple = values_[id];
    const absl::Status wrong = PickleError("describes a storage otherwise than torch.save does");
    if (tuple.kind != PickleKind::kItems || tuple.items.size() < 5) return wrong;
    const PickleValue& key = values_[tuple.items[2]];
    const PickleValue& elements = values_[tuple.items[4]];
    const std::optional<DType> dtype = StorageType(values_[tuple.items[1]]);
    if (values_[tuple.items[0]].text != "storage" || key.kind != PickleKind::kString ||
        elements.kind != PickleKind::kNumber || !dtype.has_value()) {
      return wrong;
    }
    if (tuple.items.size() > 5 && values_[tuple.items[5]].kind != PickleKind::kNone) {
      return PickleError("has a storage that is a view of another one; save the model again");
    }
    Push({.kind = PickleKind::kStorage,
          .number = elements.number,
          .text = key.text,
          .dtype = *dtype});
    return absl::OkStatus();
  }

  // _rebuild_tensor_v2(storage, offset, shape, strides, ...).
  absl::Status PushTensor(const std::vector<int64_t>& arguments) {
    const absl::Status wrong = PickleError("describes a tensor otherwise than torch.save does");
    if (arguments.size() < 4 || values_[arguments[0]].kind != PickleKind::kStorage ||
        values_[arguments[1]].kind != PickleKind::kNumber) {
      return wrong;
    }
    PickleValue tensor{.kind = PickleKind::kTensor, .number = values_[arguments[1]].number};
    tensor.storage = static_cast<int>(arguments[0]);
    RETURN_IF_ERROR(ReadDimensions(arguments[2], &tensor.items));
    const size_t rank = tensor.items.size();
    RETURN_IF_ERROR(ReadDimensions(arguments[3], &tensor.items));
    if (tensor.items.size() != 2 * rank) return wrong;
    items_ += tensor.items.size();
    Push(std::move(tensor));
    return absl::OkStatus();
  }

  absl::Status ReadDimensions(int64_t place, std::vector<int64_t>* to) const {
    const PickleValue& tuple = values_[place];
    if (tuple.kind != PickleKind::kItems || tuple.items.size() > kMaxDimensions) {
      return PickleError(
          absl::StrCat("has a tensor without a shape, want up to ", kMaxDimensions, " dimensions"));
    }
    for (const int64_t item : tuple.items) {
      if (values_[item].kind != PickleKind::kNumber)
        return PickleError("has a dimension that is not a number");
      to->push_back(values_[item].number);
    }
    return absl::OkStatus();
  }

  absl::Span<const std::byte> bytes_;
  std::vector<PickleValue> values_;
  std::vector<int> stack_;
  std::map<int64_t, int> memo_;
  size_t items_ = 0;
};

}  // namespace

absl::Status PickleError(std::string_view what) {
  return InvalidArgumentError("the pickle ", std::string(what));
}

absl::StatusOr<Pickle> RunPickle(absl::Span<const std::byte>* bytes) {
  PickleMachine machine(*bytes);
  ASSIGN_OR_RETURN(Pickle pickle, machine.Run());
  *bytes = machine.rest();
  return pickle;
}

}  // namespace dragoman
