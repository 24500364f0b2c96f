#include "engine/formats/torch_pickle.h"

#include <string_view>

#include "engine/base/status.h"
#include "engine/formats/pickle_machine.h"

namespace dragoman {
namespace {

TorchTensor Describe(const PickleMachine& machine, std::string_view name,
                     const PickleValue& value) {
  const PickleValue& storage = machine.at(value.storage);
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
  PickleMachine machine(*bytes);
  ASSIGN_OR_RETURN(const int place, machine.Run());
  *bytes = machine.rest();
  const PickleValue& dictionary = machine.at(place);
  if (dictionary.kind != PickleKind::kItems || dictionary.items.size() % 2 != 0) {
    return PickleError("holds no dictionary of tensors");
  }
  std::vector<TorchTensor> tensors;
  for (size_t i = 0; i + 1 < dictionary.items.size(); i += 2) {
    const PickleValue& name = machine.at(dictionary.items[i]);
    const PickleValue& value = machine.at(dictionary.items[i + 1]);
    if (name.kind == PickleKind::kString && value.kind == PickleKind::kTensor) {
      tensors.push_back(Describe(machine, name.text, value));
    }
  }
  if (tensors.empty()) return PickleError("holds no tensor by a name");
  return tensors;
}

absl::StatusOr<std::vector<std::string>> ReadKeysPickle(absl::Span<const std::byte>* bytes) {
  PickleMachine machine(*bytes);
  ASSIGN_OR_RETURN(const int place, machine.Run());
  *bytes = machine.rest();
  if (machine.at(place).kind != PickleKind::kItems) return PickleError("holds no list of keys");
  std::vector<std::string> keys;
  for (const int64_t item : machine.at(place).items) {
    if (machine.at(item).kind != PickleKind::kString)
      return PickleError("has a key that is not a string");
    keys.emplace_back(machine.at(item).text);
  }
  return keys;
}

absl::Status SkipPickle(absl::Span<const std::byte>* bytes) {
  PickleMachine machine(*bytes);
  RETURN_IF_ERROR(machine.Run().status());
  *bytes = machine.rest();
  return absl::OkStatus();
}

}  // namespace dragoman
