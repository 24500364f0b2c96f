// The layout of a file, in little-endian numbers (CTranslate2,
// python/ctranslate2/specs/model_spec.py):
//
//   u32 version, and since version 2: string specification, u32 revision
//   u32 number of variables, then for each of them: string name, u8 rank, u32 per dimension, and
//       since version 4   u8 type, u32 bytes, data
//       before            u8 bytes per element, u32 elements, data
//   since version 3: u32 number of aliases, then for each of them: string alias, string name
//
// A string is a u16 size, the bytes, and a NUL, which is included in the size.
//
// Files of revision 1, as all of version 1 are, have OpenNMT-tf's names:
//
//   transformer/encoder/layer_0/multi_head/conv1d_1/kernel:0
//   encoder/layer_0/self_attention/linear_1/weight           today

#include "engine/formats/ctranslate2_file.h"

#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "engine/base/mapped_file.h"
#include "engine/base/status.h"
#include "engine/formats/byte_reader.h"

namespace dragoman {
namespace {

constexpr uint32_t kOldest = 1;
constexpr uint32_t kNewest = 6;
constexpr float kDefaultInt16Scale = 1000.0f;

absl::StatusOr<std::string> ReadString(ByteReader* reader) {
  ASSIGN_OR_RETURN(const uint16_t size, reader->Read<uint16_t>());
  ASSIGN_OR_RETURN(const absl::Span<const std::byte> raw, reader->Take(size));
  std::string text(reinterpret_cast<const char*>(raw.data()), raw.size());
  if (text.empty() || text.find('\0') != text.size() - 1) {
    return absl::InvalidArgumentError("has a name that does not end where it says");
  }
  text.pop_back();
  return text;
}

absl::StatusOr<DType> TypeOf(uint8_t type) {
  constexpr DType kTypes[] = {DType::kF32, DType::kI8,  DType::kI16,
                              DType::kI32, DType::kF16, DType::kBF16};
  if (type >= std::size(kTypes)) {
    return UnimplementedError("is of type ", type, ", want 0 to 5");
  }
  return kTypes[type];
}

absl::StatusOr<DType> TypeOfSize(uint8_t size) {
  switch (size) {
    case 4:
      return DType::kF32;
    case 2:
      return DType::kI16;
    case 1:
      return DType::kI8;
  }
  return InvalidArgumentError("has elements of ", size, " bytes, want 4, 2, 1");
}

// Reads what follows a variable's name.
absl::StatusOr<Tensor> ReadTensor(uint32_t version, ByteReader* reader) {
  Tensor tensor;
  ASSIGN_OR_RETURN(const uint8_t rank, reader->Read<uint8_t>());
  if (rank > kMaxDimensions) {
    return InvalidArgumentError("has ", rank, " dimensions, want at most ", kMaxDimensions);
  }
  for (int i = 0; i < rank; ++i) {
    ASSIGN_OR_RETURN(const uint32_t dimension, reader->Read<uint32_t>());
    if (dimension < 1 || dimension > kMaxDimension) {
      return InvalidArgumentError("has a dimension of ", dimension, ", want 1 to ", kMaxDimension);
    }
    tensor.shape.push_back(dimension);
  }
  ASSIGN_OR_RETURN(const uint8_t type, reader->Read<uint8_t>());
  ASSIGN_OR_RETURN(tensor.dtype, version >= 4 ? TypeOf(type) : TypeOfSize(type));
  ASSIGN_OR_RETURN(const uint32_t count, reader->Read<uint32_t>());
  // CTranslate2 itself counts in 32 bits, so for a variable of over 4 GiB the number is too small.
  const uint64_t said = version >= 4 ? count : uint64_t{count} * SizeOf(tensor.dtype);
  const std::optional<uint64_t> wanted = BytesFor(tensor.shape, tensor.dtype);
  if (said != wanted) {
    return InvalidArgumentError(
        "has ", said, " bytes, want ", wanted ? absl::StrCat(*wanted) : "more than fit", " for ",
        NameOf(tensor.dtype), " of shape [", absl::StrJoin(tensor.shape, ", "), "]");
  }
  ASSIGN_OR_RETURN(tensor.bytes, reader->Take(said));
  return tensor;
}

using Tensors = std::map<std::string, Tensor>;

absl::Status Add(std::string name, Tensor tensor, Tensors* tensors) {
  const auto [it, inserted] = tensors->emplace(std::move(name), std::move(tensor));
  if (inserted) return absl::OkStatus();
  return InvalidArgumentError(it->first, " occurs twice");
}

struct Header {
  uint32_t version = 0;
  std::string specification;
  uint32_t revision = 1;
};

// Translates a name of revision 1.  The first occurrence of each word is replaced, in this order.
std::string NameOfToday(std::string name) {
  const bool encoder = absl::StrContains(name, "encoder");
  const std::pair<const char*, const char*> words[] = {
      {"transformer/", ""},
      {":0", ""},
      {"w_embs", "embeddings/weight"},
      {"kernel", "weight"},
      {"LayerNorm", "layer_norm"},
      {"dense", "projection"},
      {"conv1d_", "linear_"},
      {"conv1d", "linear_0"},
      {"masked_multi_head", "self_attention"},
      {"multi_head", encoder ? "self_attention" : "attention"},
  };
  for (const auto& [old, now] : words) {
    if (const size_t at = name.find(old); at != name.npos) {
      name.replace(at, std::strlen(old), now);
    }
  }
  return name;
}

absl::Status ReadVariables(const Header& header, ByteReader* reader, Tensors* tensors) {
  ASSIGN_OR_RETURN(const uint32_t count, reader->Read<uint32_t>());
  for (uint32_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(std::string name, ReadString(reader));
    if (header.revision == 1) name = NameOfToday(std::move(name));
    absl::StatusOr<Tensor> tensor = ReadTensor(header.version, reader);
    if (!tensor.ok()) return Annotate(tensor.status(), name, " ");
    RETURN_IF_ERROR(Add(std::move(name), *std::move(tensor), tensors));
  }
  return absl::OkStatus();
}

constexpr char kScale[] = "_scale";

absl::StatusOr<std::vector<float>> ScalesOf(const Tensor& weight, const Tensor* scale) {
  if (scale == nullptr) {
    if (weight.dtype == DType::kI16) return std::vector<float>{kDefaultInt16Scale};
    return absl::InvalidArgumentError("has no scale");
  }
  const size_t count = scale->bytes.size() / SizeOf(scale->dtype);
  if (scale->dtype != DType::kF32 ||
      (count != 1 && static_cast<int64_t>(count) != weight.shape[0])) {
    return InvalidArgumentError("has ", count, " scales of ", NameOf(scale->dtype), ", want 1 or ",
                                weight.shape[0], " of F32");
  }
  std::vector<float> scales(count);
  std::memcpy(scales.data(), scale->bytes.data(), scale->bytes.size());
  for (const float value : scales) {
    if (!std::isfinite(value) || value == 0.0f) {
      return InvalidArgumentError("has a scale of ", value);
    }
  }
  return scales;
}

// Gives integer weights their scales, which are variables of their own.
absl::Status AddScales(Tensors* tensors) {
  for (auto& [name, tensor] : *tensors) {
    const bool integer = tensor.dtype == DType::kI8 || tensor.dtype == DType::kI16;
    if (!integer || tensor.shape.empty() || !absl::EndsWith(name, "weight")) continue;
    const auto scale = tensors->find(name + kScale);
    absl::StatusOr<std::vector<float>> scales =
        ScalesOf(tensor, scale != tensors->end() ? &scale->second : nullptr);
    if (!scales.ok()) {
      return Annotate(scales.status(), name, " ");
    }
    tensor.scales = *std::move(scales);
  }
  return absl::OkStatus();
}

absl::Status ReadAliases(ByteReader* reader, Tensors* tensors) {
  ASSIGN_OR_RETURN(const uint32_t count, reader->Read<uint32_t>());
  for (uint32_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(std::string alias, ReadString(reader));
    ASSIGN_OR_RETURN(const std::string name, ReadString(reader));
    const auto it = tensors->find(name);
    if (it == tensors->end()) {
      return InvalidArgumentError(alias, " is another name of ", name, ", which is not there");
    }
    RETURN_IF_ERROR(Add(std::move(alias), it->second, tensors));
  }
  return absl::OkStatus();
}

absl::StatusOr<Header> ReadHeader(ByteReader* reader) {
  Header header;
  ASSIGN_OR_RETURN(header.version, reader->Read<uint32_t>());
  if (header.version < kOldest || header.version > kNewest) {
    return UnimplementedError("is of version ", header.version, ", want ", kOldest, " to ", kNewest,
                              " of CTranslate2's format");
  }
  if (header.version == 1) return header;
  ASSIGN_OR_RETURN(header.specification, ReadString(reader));
  ASSIGN_OR_RETURN(header.revision, reader->Read<uint32_t>());
  return header;
}

absl::StatusOr<Tensors> ReadTensors(const Header& header, ByteReader* reader) {
  Tensors tensors;
  RETURN_IF_ERROR(ReadVariables(header, reader, &tensors));
  RETURN_IF_ERROR(AddScales(&tensors));
  if (header.version >= 3) RETURN_IF_ERROR(ReadAliases(reader, &tensors));
  std::erase_if(tensors, [&tensors](const auto& variable) {
    const auto weight = tensors.find(std::string(absl::StripSuffix(variable.first, kScale)));
    return absl::EndsWith(variable.first, kScale) && weight != tensors.end() &&
           !weight->second.scales.empty();
  });
  if (reader->left.size() > 0) {
    return InvalidArgumentError("has ", reader->left.size(), " bytes behind its last variable");
  }
  return tensors;
}

}  // namespace

absl::StatusOr<CTranslate2File> OpenCTranslate2File(const std::string& path) {
  ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file, MappedFile::Open(path));
  const auto in_file = [&path](const absl::Status& status) { return Annotate(status, path, ": "); };
  ByteReader reader = {file->bytes()};
  absl::StatusOr<Header> header = ReadHeader(&reader);
  if (!header.ok()) return in_file(header.status());
  absl::StatusOr<Tensors> tensors = ReadTensors(*header, &reader);
  if (!tensors.ok()) return in_file(tensors.status());
  return CTranslate2File{
      header->version, std::move(header->specification), header->revision,
      Checkpoint(path.substr(path.rfind('/') + 1), {std::move(file)}, *std::move(tensors))};
}

}  // namespace dragoman
