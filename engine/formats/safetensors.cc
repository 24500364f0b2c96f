#include "engine/formats/safetensors.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "engine/base/json.h"
#include "engine/base/mapped_file.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr char kMetadata[] = "__metadata__";       // free text, not a tensor
constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the limit of the format's own library

// A tensor's bytes after the header: [begin, end).
struct Range {
  uint64_t begin = 0;
  uint64_t end = 0;
};

absl::StatusOr<nlohmann::json> Field(const nlohmann::json& entry, const char* field) {
  const auto it = entry.find(field);
  if (it == entry.end()) return InvalidArgumentError("has no ", field);
  return *it;
}

absl::StatusOr<DType> ParseDTypeOf(const nlohmann::json& entry) {
  ASSIGN_OR_RETURN(const nlohmann::json value, Field(entry, "dtype"));
  if (value.is_string()) {
    const std::optional<DType> dtype = ParseDType(value.get_ref<const std::string&>());
    if (dtype.has_value()) return *dtype;
  }
  return InvalidArgumentError("dtype is ", Describe(value),
                              ", want F32, F16, BF16 or another known one");
}

absl::StatusOr<std::vector<int64_t>> ParseShape(const nlohmann::json& entry) {
  ASSIGN_OR_RETURN(const nlohmann::json value, Field(entry, "shape"));
  const absl::Status wrong =
      InvalidArgumentError("shape is ", Describe(value), ", want up to ", kMaxDimensions,
                           " whole numbers from 1 to ", kMaxDimension);
  if (!value.is_array() || value.size() > kMaxDimensions) return wrong;
  std::vector<int64_t> shape;
  for (const nlohmann::json& dimension : value) {
    if (!dimension.is_number_unsigned()) return wrong;
    const uint64_t size = dimension.get<uint64_t>();
    if (size < 1 || size > kMaxDimension) return wrong;
    shape.push_back(static_cast<int64_t>(size));
  }
  return shape;
}

absl::StatusOr<Range> ParseRange(const nlohmann::json& entry, uint64_t data_size) {
  ASSIGN_OR_RETURN(const nlohmann::json value, Field(entry, "data_offsets"));
  if (!value.is_array() || value.size() != 2 || !value[0].is_number_unsigned() ||
      !value[1].is_number_unsigned()) {
    return InvalidArgumentError("data_offsets is ", Describe(value), ", want two whole numbers");
  }
  const Range range{value[0].get<uint64_t>(), value[1].get<uint64_t>()};
  if (range.begin > range.end || range.end > data_size) {
    return InvalidArgumentError("data_offsets is ", Describe(value),
                                ", want a range within the file's ", data_size, " bytes of data");
  }
  return range;
}

absl::StatusOr<Tensor> ParseTensor(const nlohmann::json& entry, absl::Span<const std::byte> data) {
  if (!entry.is_object()) {
    return InvalidArgumentError("is ", Describe(entry), ", want an object");
  }
  Tensor tensor;
  ASSIGN_OR_RETURN(tensor.dtype, ParseDTypeOf(entry));
  ASSIGN_OR_RETURN(tensor.shape, ParseShape(entry));
  ASSIGN_OR_RETURN(const Range range, ParseRange(entry, data.size()));
  const std::optional<uint64_t> wanted = BytesFor(tensor.shape, tensor.dtype);
  if (wanted != range.end - range.begin) {
    return InvalidArgumentError("has ", range.end - range.begin, " bytes, want ",
                                wanted ? absl::StrCat(*wanted) : "more than fit in 64 bits",
                                " for ", NameOf(tensor.dtype), " of shape ",
                                Describe(entry["shape"]));
  }
  tensor.bytes = data.subspan(range.begin, range.end - range.begin);
  return tensor;
}

// Every byte of the data belongs to exactly one tensor.
absl::Status CheckCover(const std::map<std::string, Tensor>& tensors,
                        absl::Span<const std::byte> data) {
  std::vector<std::pair<const std::string*, absl::Span<const std::byte>>> order;
  for (const auto& [name, tensor] : tensors) order.emplace_back(&name, tensor.bytes);
  absl::c_sort(order,
               [](const auto& a, const auto& b) { return a.second.data() < b.second.data(); });
  const std::byte* covered = data.data();
  for (const auto& [name, bytes] : order) {
    if (bytes.data() != covered) {
      const char* fault = bytes.data() < covered ? "overlaps the tensor before it, which ends at "
                                                 : "leaves a hole behind ";
      return InvalidArgumentError(*name, " begins at ", bytes.data() - data.data(), " and ", fault,
                                  covered - data.data());
    }
    covered += bytes.size();
  }
  if (covered != data.data() + data.size()) {
    return InvalidArgumentError("there are ", data.size(),
                                " bytes of data, but the tensors end at ", covered - data.data());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::map<std::string, Tensor>> ParseTensors(std::string_view header,
                                                           absl::Span<const std::byte> data) {
  ASSIGN_OR_RETURN(const nlohmann::json json, ParseJsonObject(header, "header"));
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, entry] : json.items()) {
    if (name == kMetadata) continue;
    absl::StatusOr<Tensor> tensor = ParseTensor(entry, data);
    if (!tensor.ok()) {
      return Annotate(tensor.status(), name, " ");
    }
    tensors.emplace(name, *std::move(tensor));
  }
  RETURN_IF_ERROR(CheckCover(tensors, data));
  return tensors;
}

absl::StatusOr<std::map<std::string, Tensor>> ParseFile(absl::Span<const std::byte> bytes) {
  uint64_t header_size = 0;
  if (bytes.size() < sizeof(header_size)) {
    return InvalidArgumentError("has ", bytes.size(),
                                " bytes, want at least 8 for the header's length");
  }
  std::memcpy(&header_size, bytes.data(), sizeof(header_size));
  bytes.remove_prefix(sizeof(header_size));
  const uint64_t most = std::min<uint64_t>(bytes.size(), kMaxHeaderBytes);
  if (header_size > most) {
    return InvalidArgumentError("the header's length is ", header_size, ", want at most ", most);
  }
  const std::string_view header(reinterpret_cast<const char*>(bytes.data()), header_size);
  return ParseTensors(header, bytes.subspan(header_size));
}

}  // namespace

absl::StatusOr<Checkpoint> OpenSafetensors(const std::string& path) {
  ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file, MappedFile::Open(path));
  absl::StatusOr<std::map<std::string, Tensor>> tensors = ParseFile(file->bytes());
  if (!tensors.ok()) {
    return Annotate(tensors.status(), path, ": ");
  }
  return Checkpoint(path.substr(path.rfind('/') + 1), {std::move(file)}, *std::move(tensors));
}

}  // namespace dragoman
