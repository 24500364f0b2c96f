// A file is, in little-endian numbers (Marian, common/binary.cpp):
//
//   u64 version (1), u64 tensors, then for each of them
//     u64 bytes of its name with the NUL, u64 type, u64 dimensions, u64 bytes of its data
//   the names, each with its NUL
//   the dimensions, i32 each
//   u64 padding, and that many bytes
//   the data
//
// The data of a tensor is padded to a multiple of 256 bytes, so its true size follows from its
// shape.  In 8 bits (tensors/cpu/integer_common.h) the elements come first, then, as float32, the
// factor by which they were multiplied before rounding.  The elements of a weight are transposed,
// those of an embedding are not.

#include "engine/formats/marian_file.h"

#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/base/mapped_file.h"
#include "engine/base/status.h"
#include "engine/formats/byte_reader.h"

namespace dragoman {
namespace {

using Bytes = absl::Span<const std::byte>;

constexpr uint64_t kVersion = 1;
constexpr uint64_t kMaxTensors = 100'000;
constexpr uint64_t kMaxName = 4096;

struct Type {
  uint64_t code;
  DType dtype = DType::kF32;
  bool quantized = false;
};

constexpr Type kMarianTypes[] = {
    {0x101, DType::kI8},        {0x104, DType::kI32},
    {0x402, DType::kF16},       {0x404, DType::kF32},
    {0x408, DType::kF64},       {0x4101, DType::kI8, true},  // in browsermt/marian-dev
    {0x10001, DType::kI8, true}};                            // in marian-nmt/marian-dev

absl::StatusOr<Type> TypeOf(uint64_t code) {
  for (const Type& type : kMarianTypes) {
    if (type.code == code) return type;
  }
  return UnimplementedError(
      "is of type 0x", absl::Hex(code),
      ", want float32, float16 or intgemm8 without a kind of CPU: convert the model "
      "again, with marian-conv --gemm-type intgemm8 or float32");
}

struct Entry {
  std::string name;
  uint64_t name_bytes, type, dimensions, bytes;
  std::vector<int64_t> shape;
};

absl::Status CheckVersion(uint64_t version) {
  if (version == kVersion) return absl::OkStatus();
  return UnimplementedError("is of version ", version, version == 2 ? ", encrypted" : "", ", want ",
                            kVersion);
}

// All tensors, with their sizes alone.
absl::StatusOr<std::vector<Entry>> ReadSizes(ByteReader* reader) {
  ASSIGN_OR_RETURN(const uint64_t count, reader->Read<uint64_t>());
  if (count > kMaxTensors) {
    return InvalidArgumentError("has ", count, " tensors, want at most ", kMaxTensors);
  }
  std::vector<Entry> entries;
  for (uint64_t i = 0; i < count; ++i) {
    Entry& entry = entries.emplace_back();
    ASSIGN_OR_RETURN(entry.name_bytes, reader->Read<uint64_t>());
    ASSIGN_OR_RETURN(entry.type, reader->Read<uint64_t>());
    ASSIGN_OR_RETURN(entry.dimensions, reader->Read<uint64_t>());
    ASSIGN_OR_RETURN(entry.bytes, reader->Read<uint64_t>());
    if (entry.name_bytes < 2 || entry.name_bytes > kMaxName || entry.dimensions < 1 ||
        entry.dimensions > kMaxDimensions) {
      return InvalidArgumentError("tensor ", i, " has a name of ", entry.name_bytes, " bytes and ",
                                  entry.dimensions, " dimensions");
    }
  }
  return entries;
}

absl::Status ReadName(ByteReader* reader, Entry* entry) {
  ASSIGN_OR_RETURN(const Bytes name, reader->Take(entry->name_bytes));
  entry->name.assign(reinterpret_cast<const char*>(name.data()), name.size() - 1);
  if (name.back() != std::byte{0} || entry->name.find('\0') != std::string::npos) {
    return absl::InvalidArgumentError("has a name that does not end where it says");
  }
  return absl::OkStatus();
}

absl::Status ReadShape(ByteReader* reader, Entry* entry) {
  for (uint64_t d = 0; d < entry->dimensions; ++d) {
    ASSIGN_OR_RETURN(const int32_t dimension, reader->Read<int32_t>());
    if (dimension < 0) {
      return InvalidArgumentError(entry->name, " has a dimension of ", dimension);
    }
    entry->shape.push_back(dimension);
  }
  return absl::OkStatus();
}

// Everything before the data: the sizes of all tensors, then the names of all, then the shapes.
absl::StatusOr<std::vector<Entry>> ReadEntries(ByteReader* reader) {
  ASSIGN_OR_RETURN(const uint64_t version, reader->Read<uint64_t>());
  RETURN_IF_ERROR(CheckVersion(version));
  ASSIGN_OR_RETURN(std::vector<Entry> entries, ReadSizes(reader));
  for (Entry& entry : entries) RETURN_IF_ERROR(ReadName(reader, &entry));
  for (Entry& entry : entries) RETURN_IF_ERROR(ReadShape(reader, &entry));
  return entries;
}

absl::StatusOr<Tensor> MakeTensor(const Entry& entry, Bytes data) {
  ASSIGN_OR_RETURN(const Type type, TypeOf(entry.type));
  Tensor tensor;
  tensor.dtype = type.dtype;
  tensor.shape = entry.shape;
  const std::optional<uint64_t> wanted = BytesFor(tensor.shape, tensor.dtype);
  const uint64_t behind = type.quantized ? sizeof(float) : 0;
  if (!wanted.has_value() || *wanted > data.size() || behind > data.size() - *wanted) {
    return InvalidArgumentError("has ", data.size(), " bytes, too few for its shape");
  }
  tensor.bytes = data.first(*wanted);
  if (!type.quantized) return tensor;
  if (tensor.shape.size() != 2) {
    return InvalidArgumentError("has ", tensor.shape.size(), " dimensions in 8 bits, want 2");
  }
  float scale = 0.0f;
  std::memcpy(&scale, data.data() + *wanted, sizeof(scale));
  if (!(scale > 0.0f && std::isfinite(scale))) {
    return InvalidArgumentError("has the scale ", scale);
  }
  tensor.scales = {scale};
  tensor.transposed = !absl::StrContains(entry.name, "Wemb");
  return tensor;
}

absl::StatusOr<std::map<std::string, Tensor>> ReadTensors(Bytes bytes) {
  ByteReader reader{bytes};
  ASSIGN_OR_RETURN(const std::vector<Entry> entries, ReadEntries(&reader));
  ASSIGN_OR_RETURN(const uint64_t padding, reader.Read<uint64_t>());
  RETURN_IF_ERROR(reader.Take(padding).status());
  std::map<std::string, Tensor> tensors;
  for (const Entry& entry : entries) {
    ASSIGN_OR_RETURN(const Bytes data, reader.Take(entry.bytes));
    bool empty = false;
    for (const int64_t dimension : entry.shape) empty |= dimension == 0;
    if (empty) continue;
    absl::StatusOr<Tensor> tensor = MakeTensor(entry, data);
    if (!tensor.ok()) return Annotate(tensor.status(), entry.name, " ");
    if (!tensors.emplace(entry.name, *std::move(tensor)).second) {
      return InvalidArgumentError(entry.name, " occurs twice");
    }
  }
  return tensors;
}

}  // namespace

bool IsMarianFile(const std::string& path) {
  const absl::StatusOr<std::shared_ptr<const MappedFile>> file = MappedFile::Open(path);
  if (!file.ok()) return false;
  // No other format that begins with a small number continues with seven zeros.
  ByteReader reader{(*file)->bytes()};
  const absl::StatusOr<uint64_t> version = reader.Read<uint64_t>();
  return version.ok() && (*version == 1 || *version == 2);
}

absl::StatusOr<Checkpoint> OpenMarianFile(const std::string& path) {
  ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file, MappedFile::Open(path));
  absl::StatusOr<std::map<std::string, Tensor>> tensors = ReadTensors(file->bytes());
  if (!tensors.ok()) return Annotate(tensors.status(), path, ": ");
  return Checkpoint(path.substr(path.rfind('/') + 1), {std::move(file)}, *std::move(tensors));
}

}  // namespace dragoman
