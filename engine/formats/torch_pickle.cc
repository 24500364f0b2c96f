#include "engine/formats/torch_pickle.h"

#include <string_view>

#include "engine/base/status.h"
#include "engine/formats/pickle_machine.h"

namespace dragoman {
namespace {

TorchTensor Describe(const Pickle& pickle, std::string_view name, const PickleValue& value) {
  const PickleValue& storage = pickle.at(value.storage);
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
  ASSIGN_OR_RETURN(const Pickle pickle, RunPickle(bytes));
  const PickleValue& dictionary = pickle.at(pickle.root);
  if (dictionary.kind != PickleKind::kItems || dictionary.items.size() % 2 != 0) {
    return PickleError("holds no dictionary of tensors");
  }
  std::vector<TorchTensor> tensors;
  for (size_t i = 0; i + 1 < dictionary.items.size(); i += 2) {
    const PickleValue& name = pickle.at(dictionary.items[i]);
    const PickleValue& value = pickle.at(dictionary.items[i + 1]);
    if (name.kind == PickleKind::kString && value.kind == PickleKind::kTensor) {
      tensors.push_back(Describe(pickle, name.text, value));
    }
  }
  if (tensors.empty()) return PickleError("holds no tensor by a name");
  return tensors;
}

absl::StatusOr<std::vector<std::string>> ReadKeysPickle(absl::Span<const std::byte>* bytes) {
  ASSIGN_OR_RETURN(const Pickle pickle, RunPickle(bytes));
  if (pickle.at(pickle.root).kind != PickleKind::kItems)
    return PickleError("holds no list of keys");
  std::vector<std::string> keys;
  for (const int64_t item : pickle.at(pickle.root).items) {
    if (pickle.at(item).kind != PickleKind::kString)
      return PickleError("has a key that is not a string");
    keys.emplace_back(pickle.at(item).text);
  }
  return keys;
}

absl::Status SkipPickle(absl::Span<const std::byte>* bytes) { return RunPickle(bytes).status(); }

}  // namespace dragoman
