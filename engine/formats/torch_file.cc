#include "engine/formats/torch_file.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/base/mapped_file.h"
#include "engine/base/status.h"
#include "engine/base/zip_archive.h"
#include "engine/formats/torch_pickle.h"

namespace dragoman {
namespace {

using Bytes = absl::Span<const std::byte>;

constexpr size_t kMaxPickle = 64 << 20;

// The order of a tensor's elements in its storage.
enum class Order { kRows, kColumns, kOther };

// The stride of a dimension with one element does not matter.
bool HasStrides(const TorchTensor& tensor, const std::vector<int64_t>& strides) {
  for (size_t i = 0; i < strides.size(); ++i) {
    if (tensor.shape[i] != 1 && tensor.strides[i] != strides[i]) return false;
  }
  return true;
}

Order OrderOf(const TorchTensor& tensor) {
  std::vector<int64_t> rows(tensor.shape.size());
  int64_t stride = 1;
  for (size_t i = rows.size(); i-- > 0;) {
    rows[i] = stride;
    stride *= tensor.shape[i];  // BytesFor has checked that it does not overflow
  }
  if (HasStrides(tensor, rows)) return Order::kRows;
  if (rows.size() == 2 && HasStrides(tensor, {1, tensor.shape[0]})) return Order::kColumns;
  return Order::kOther;
}

// Finds the tensor among the bytes of its storage.
absl::StatusOr<Tensor> Locate(const TorchTensor& described, Bytes storage) {
  const std::string shape = absl::StrCat("[", absl::StrJoin(described.shape, ", "), "]");
  for (const int64_t dimension : described.shape) {
    if (dimension < 1 || dimension > kMaxDimension) {
      return InvalidArgumentError("has shape ", shape, ", want dimensions from 1 to ",
                                  kMaxDimension);
    }
  }
  const std::optional<uint64_t> wanted = BytesFor(described.shape, described.dtype);
  const uint64_t size = SizeOf(described.dtype);
  const uint64_t elements = storage.size() / size;
  if (!wanted.has_value() || described.offset < 0 ||
      static_cast<uint64_t>(described.offset) > elements ||
      *wanted / size > elements - static_cast<uint64_t>(described.offset)) {
    return InvalidArgumentError("has shape ", shape, " from element ", described.offset,
                                ", but its storage ends at ", elements);
  }
  const Order order = OrderOf(described);
  if (order == Order::kOther) {
    return InvalidArgumentError("has shape ", shape, " and strides [",
                                absl::StrJoin(described.strides, ", "),
                                "], want its elements by rows or by columns");
  }
  Tensor tensor;
  tensor.dtype = described.dtype;
  tensor.shape = described.shape;
  tensor.bytes = storage.subspan(static_cast<uint64_t>(described.offset) * size, *wanted);
  tensor.transposed = order == Order::kColumns;
  return tensor;
}

bool IsEmpty(const TorchTensor& tensor) {
  for (const int64_t dimension : tensor.shape) {
    if (dimension == 0) return true;
  }
  return false;
}

// The bytes of each storage, by its key.
using Storages = std::map<std::string, Bytes>;

absl::StatusOr<std::map<std::string, Tensor>> LocateAll(const std::vector<TorchTensor>& described,
                                                        const Storages& storages) {
  std::map<std::string, Tensor> tensors;
  for (const TorchTensor& tensor : described) {
    if (IsEmpty(tensor)) continue;
    const auto storage = storages.find(tensor.storage);
    if (storage == storages.end()) {
      return InvalidArgumentError(tensor.name, " is in storage ", tensor.storage,
                                  ", which the file lacks");
    }
    const uint64_t elements = storage->second.size() / SizeOf(tensor.dtype);
    if (tensor.storage_elements < 0 || static_cast<uint64_t>(tensor.storage_elements) != elements) {
      return InvalidArgumentError(tensor.name, " is in storage ", tensor.storage, " of ",
                                  tensor.storage_elements, " elements, but the file has ",
                                  elements);
    }
    absl::StatusOr<Tensor> located = Locate(tensor, storage->second);
    if (!located.ok()) {
      return Annotate(located.status(), tensor.name, " ");
    }
    if (!tensors.emplace(tensor.name, *std::move(located)).second) {
      return InvalidArgumentError(tensor.name, " occurs twice");
    }
  }
  return tensors;
}

// FOLDER/data.pkl, FOLDER/data/0, FOLDER/data/1, ... and FOLDER/byteorder from PyTorch 2.1 on.
absl::StatusOr<std::map<std::string, Tensor>> ReadZip(Bytes bytes) {
  ASSIGN_OR_RETURN(const ZipArchive zip, ZipArchive::Open(bytes));
  const ZipArchive::Entry* pickle = nullptr;
  for (const ZipArchive::Entry& entry : zip.entries()) {
    if (!absl::EndsWith(entry.name, "/data.pkl")) continue;
    if (pickle != nullptr) return absl::InvalidArgumentError("has two data.pkl, want one");
    pickle = &entry;
  }
  if (pickle == nullptr) return absl::InvalidArgumentError("is a zip without data.pkl");
  const std::string folder = pickle->name.substr(0, pickle->name.size() - strlen("data.pkl"));
  if (const ZipArchive::Entry* order = zip.Find(folder + "byteorder"); order != nullptr) {
    constexpr char kLittle[] = "little";
    if (order->stored.size() != strlen(kLittle) ||
        std::memcmp(order->stored.data(), kLittle, strlen(kLittle)) != 0) {
      return absl::UnimplementedError("is not little-endian");
    }
  }
  Storages storages;
  for (const ZipArchive::Entry& entry : zip.entries()) {
    if (entry.size > 0 && entry.stored.empty()) {
      return InvalidArgumentError(entry.name, " is compressed, want it stored, as torch.save does");
    }
    if (absl::StartsWith(entry.name, folder + "data/")) {
      storages.emplace(entry.name.substr(folder.size() + strlen("data/")), entry.stored);
    }
  }
  Bytes rest = pickle->stored;
  if (rest.size() > kMaxPickle) return absl::InvalidArgumentError("has a data.pkl of over 64 MiB");
  ASSIGN_OR_RETURN(const std::vector<TorchTensor> tensors, ReadTensorPickle(&rest));
  return LocateAll(tensors, storages);
}

// The pickle of the number 0x1950a86a20f9469cfc6c, which starts the old format.
constexpr char kOldMagic[] = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";

bool IsOldFormat(Bytes bytes) {
  constexpr size_t kSize = sizeof(kOldMagic) - 1;
  return bytes.size() >= kSize && std::memcmp(bytes.data(), kOldMagic, kSize) == 0;
}

// Reads the storages that follow the pickles.  Each has a number of elements in 64 bits, and the
// elements.
absl::StatusOr<Storages> ReadOldStorages(const std::vector<std::string>& keys,
                                         const std::vector<TorchTensor>& tensors, Bytes bytes) {
  std::map<std::string, DType> dtypes;
  for (const TorchTensor& tensor : tensors) {
    const auto [it, inserted] = dtypes.emplace(tensor.storage, tensor.dtype);
    if (!inserted && it->second != tensor.dtype) {
      return InvalidArgumentError(tensor.name, " is of another type than its storage");
    }
  }
  Storages storages;
  for (const std::string& key : keys) {
    const auto dtype = dtypes.find(key);
    if (dtype == dtypes.end()) {
      return InvalidArgumentError("storage ", key, " belongs to no tensor");
    }
    uint64_t elements = 0;
    if (bytes.size() < sizeof(elements)) return absl::InvalidArgumentError("is cut off");
    std::memcpy(&elements, bytes.data(), sizeof(elements));
    bytes.remove_prefix(sizeof(elements));
    const uint64_t size = SizeOf(dtype->second);
    if (elements > bytes.size() / size) {
      return InvalidArgumentError("storage ", key, " has ", elements,
                                  " elements, but the file ends after ", bytes.size() / size);
    }
    if (!storages.emplace(key, bytes.first(elements * size)).second) {
      return InvalidArgumentError("storage ", key, " occurs twice");
    }
    bytes.remove_prefix(elements * size);
  }
  if (!bytes.empty()) {
    return InvalidArgumentError("has ", bytes.size(), " bytes behind its last storage");
  }
  return storages;
}

// The magic number, the version, properties of the machine, the tensors, the keys of the storages.
absl::StatusOr<std::map<std::string, Tensor>> ReadOldFormat(Bytes bytes) {
  for (int i = 0; i < 3; ++i) RETURN_IF_ERROR(SkipPickle(&bytes));
  ASSIGN_OR_RETURN(const std::vector<TorchTensor> tensors, ReadTensorPickle(&bytes));
  ASSIGN_OR_RETURN(const std::vector<std::string> keys, ReadKeysPickle(&bytes));
  ASSIGN_OR_RETURN(const Storages storages, ReadOldStorages(keys, tensors, bytes));
  return LocateAll(tensors, storages);
}

absl::StatusOr<std::map<std::string, Tensor>> ReadFile(Bytes bytes) {
  if (ZipArchive::IsZip(bytes)) return ReadZip(bytes);
  if (IsOldFormat(bytes)) return ReadOldFormat(bytes);
  return absl::InvalidArgumentError("is not what torch.save writes, want a zip or a pickle");
}

}  // namespace

absl::StatusOr<Checkpoint> OpenTorchFile(const std::string& path) {
  ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file, MappedFile::Open(path));
  absl::StatusOr<std::map<std::string, Tensor>> tensors = ReadFile(file->bytes());
  if (!tensors.ok()) return Annotate(tensors.status(), path, ": ");
  return Checkpoint(path.substr(path.rfind('/') + 1), {std::move(file)}, *std::move(tensors));
}

}  // namespace dragoman
