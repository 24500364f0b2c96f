#include "engine/formats/checkpoint.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are read as they lie");

float FromBits(uint32_t bits) { return std::bit_cast<float>(bits); }

// IEEE 754 half precision: 1 sign, 5 exponent and 10 fraction bits.  Exact for every value, and
// free of branches, so that the compiler vectorizes loops over it.
float FromF16(uint16_t half) {
  const uint32_t magnitude = static_cast<uint32_t>(half & 0x7FFF) << 13;  // float32's alignment
  const uint32_t exponent = magnitude & 0x0F800000;
  const uint32_t normal = magnitude + ((127 - 15) << 23);
  // A subnormal is fraction * 2^-24, which is what subtracting 2^-14 from 2^-14 * 1.fraction gives.
  const uint32_t subnormal =
      std::bit_cast<uint32_t>(FromBits(magnitude + (113 << 23)) - FromBits(113 << 23));
  const uint32_t special = magnitude + ((255 - 31) << 23);  // infinity and NaN
  const uint32_t finite = exponent == 0 ? subnormal : normal;
  const uint32_t bits = exponent == 0x0F800000 ? special : finite;
  return FromBits(bits | static_cast<uint32_t>(half & 0x8000) << 16);
}

// The upper half of a float32.
float FromBF16(uint16_t half) { return FromBits(static_cast<uint32_t>(half) << 16); }

// Converts elements of a file that are `stride` elements apart.  The bytes of a file are not
// aligned, hence memcpy, which compiles to a plain load.
template <typename Stored, float (*kConvert)(Stored)>
void ConvertElements(const std::byte* from, size_t stride, size_t count, float* to) {
  const auto load = [from](size_t i) {
    Stored element;
    std::memcpy(&element, from + i * sizeof(Stored), sizeof(Stored));
    return kConvert(element);
  };
  if (stride == 1) {  // a loop that the compiler vectorizes
    for (size_t i = 0; i < count; ++i) to[i] = load(i);
  } else {
    for (size_t i = 0; i < count; ++i) to[i] = load(i * stride);
  }
}

template <typename Number>
float Cast(Number number) {
  return static_cast<float>(number);
}

void ConvertElements(DType dtype, const std::byte* from, size_t stride, size_t count, float* to) {
  using Convert = void(const std::byte* from, size_t stride, size_t count, float* to);
  constexpr Convert* kConverts[] = {
      ConvertElements<float, Cast<float>>,   ConvertElements<uint16_t, FromF16>,
      ConvertElements<uint16_t, FromBF16>,   ConvertElements<double, Cast<double>>,
      ConvertElements<int8_t, Cast<int8_t>>, ConvertElements<int16_t, Cast<int16_t>>};
  DRAGOMAN_CHECK(dtype <= DType::kI16);  // CheckWeight has refused the others
  kConverts[static_cast<size_t>(dtype)](from, stride, count, to);
}

int64_t ColsOf(const Tensor& tensor) {
  return static_cast<int64_t>(tensor.bytes.size() / SizeOf(tensor.dtype)) / tensor.shape[0];
}

// The bytes of the rows [first, end) of a tensor [rows, cols] that is not transposed.
absl::Span<const std::byte> RowsOf(const Tensor& tensor, int64_t first, int64_t end) {
  const size_t row = SizeOf(tensor.dtype) * ColsOf(tensor);
  return tensor.bytes.subspan(first * row, (end - first) * row);
}

// Converts the rows [first, end) of a tensor [rows, cols]; a vector is a column.
void Convert(const Tensor& tensor, int64_t first, int64_t end, float* to) {
  const int64_t cols = ColsOf(tensor);
  if (tensor.transposed) {
    for (int64_t r = first; r < end; ++r) {
      ConvertElements(tensor.dtype, tensor.bytes.data() + r * SizeOf(tensor.dtype), tensor.shape[0],
                      cols, to + (r - first) * cols);
    }
  } else {
    ConvertElements(tensor.dtype, RowsOf(tensor, first, end).data(), 1, (end - first) * cols, to);
  }
  for (int64_t r = first; r < end && !tensor.scales.empty(); ++r) {
    const float scale = tensor.scales.size() == 1 ? tensor.scales[0] : tensor.scales[r];
    float* const row = to + (r - first) * cols;
    for (int64_t c = 0; c < cols; ++c) row[c] /= scale;
  }
  for (int64_t r = first; r < end && tensor.added != nullptr; ++r) {
    const LowRank& added = *tensor.added;
    float* const row = to + (r - first) * cols;
    for (int k = 0; k < added.a.rows(); ++k) {
      const float factor = added.b.Row(static_cast<int>(r))[k];
      const absl::Span<const float> addend = added.a.Row(k);
      for (int64_t c = 0; c < cols; ++c) row[c] += factor * addend[c];
    }
  }
}

absl::Status WrongShape(const std::string& name, const Tensor& tensor, const std::string& want,
                        const std::string& file) {
  return InvalidArgumentError(name, " is [", absl::StrJoin(tensor.shape, ", "), "], want [", want,
                              "] in ", file);
}

bool IsFinite(float value) { return (std::bit_cast<uint32_t>(value) & 0x7F800000) != 0x7F800000; }

// `first` is the tensor's row at which `values` begins.
absl::Status CheckFinite(const std::string& name, absl::Span<const float> values, int first,
                         int cols, const std::string& file) {
  bool finite = true;
  for (const float value : values) finite &= IsFinite(value);  // no branch, so it is vectorized
  if (finite) return absl::OkStatus();
  const auto at = absl::c_find_if_not(values, IsFinite);
  const int64_t index = at - values.begin();
  const std::string where =
      cols == 0 ? absl::StrCat(index) : absl::StrCat(first + index / cols, ", ", index % cols);
  return InvalidArgumentError(name, "[", where, "] is ", std::isnan(*at) ? "NaN" : "infinite",
                              ", want a finite number in ", file);
}

// Whether a name is `pattern`, in which a * at either end stands for any text.
bool Matches(absl::string_view name, absl::string_view pattern) {
  if (absl::ConsumePrefix(&pattern, "*")) return absl::EndsWith(name, pattern);
  if (absl::ConsumeSuffix(&pattern, "*")) return absl::StartsWith(name, pattern);
  return name == pattern;
}

absl::Status NoTensor(const std::string& name, const std::string& file) {
  return NotFoundError("there is no tensor ", name, " in ", file);
}

absl::Status CheckWeight(const std::string& name, const Tensor& tensor, const std::string& file) {
  if (tensor.dtype <= DType::kI16) return absl::OkStatus();
  return InvalidArgumentError(name, " is of ", NameOf(tensor.dtype),
                              ", want a weight: F32, F16 or BF16 in ", file);
}

// In the order of DType.
struct DTypeEntry {
  const char* name;
  size_t size;
};
constexpr DTypeEntry kDTypes[] = {{"F32", 4}, {"F16", 2}, {"BF16", 2}, {"F64", 8}, {"I8", 1},
                                  {"I16", 2}, {"I32", 4}, {"I64", 8},  {"U8", 1},  {"BOOL", 1}};
static_assert(std::size(kDTypes) == static_cast<size_t>(DType::kBool) + 1);

}  // namespace

size_t SizeOf(DType dtype) { return kDTypes[static_cast<size_t>(dtype)].size; }

const char* NameOf(DType dtype) { return kDTypes[static_cast<size_t>(dtype)].name; }

std::optional<DType> ParseDType(std::string_view name) {
  for (size_t i = 0; i < std::size(kDTypes); ++i) {
    if (name == kDTypes[i].name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

std::optional<uint64_t> BytesFor(const std::vector<int64_t>& shape, DType dtype) {
  uint64_t bytes = SizeOf(dtype);
  for (const int64_t dimension : shape) {
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(dimension), &bytes)) {
      return std::nullopt;
    }
  }
  return bytes;
}

Checkpoint::Checkpoint(std::string name, std::vector<std::shared_ptr<const MappedFile>> files,
                       std::map<std::string, Tensor> tensors)
    : name_(std::move(name)), files_(std::move(files)), tensors_(std::move(tensors)) {}

Checkpoint Checkpoint::Renamed(absl::FunctionRef<std::string(const std::string&)> name) const {
  Checkpoint renamed(name_, files_, {});
  for (const auto& [old, tensor] : tensors_) {
    const std::string now = name(old);
    if (!now.empty() && !renamed.tensors_.emplace(now, tensor).second) {
      renamed.tensors_.emplace(old, tensor);
    }
  }
  return renamed;
}

Checkpoint Checkpoint::Without(absl::Span<const char* const> names) const {
  return Renamed([&](const std::string& name) {
    const auto matches = [&](const char* pattern) { return Matches(name, pattern); };
    return absl::c_any_of(names, matches) ? "" : name;
  });
}

Checkpoint Checkpoint::WithAdded(
    const std::map<std::string, std::shared_ptr<const LowRank>>& added) const {
  Checkpoint changed(name_, files_, tensors_);
  for (const auto& [name, low_rank] : added) changed.tensors_.at(name).added = low_rank;
  return changed;
}

bool Checkpoint::Has(const std::string& tensor) const { return Find(tensor) != nullptr; }

const Tensor* Checkpoint::Find(const std::string& tensor) const {
  const auto it = tensors_.find(tensor);
  return it != tensors_.end() ? &it->second : nullptr;
}

absl::StatusOr<Matrix<float>> Checkpoint::ReadMatrix(const std::string& tensor, int rows,
                                                     int cols) const {
  return ReadRows(tensor, rows, cols, 0, rows);
}

absl::Status Checkpoint::CheckMatrix(const std::string& tensor, int rows, int cols) const {
  const Tensor* found = Find(tensor);
  if (found == nullptr) return NoTensor(tensor, name_);
  if (found->shape != std::vector<int64_t>{rows, cols}) {
    return WrongShape(tensor, *found, absl::StrCat(rows, ", ", cols), name_);
  }
  return CheckWeight(tensor, *found, name_);
}

absl::StatusOr<Matrix<float>> Checkpoint::ReadRows(const std::string& tensor, int rows, int cols,
                                                   int first, int end) const {
  DRAGOMAN_CHECK(0 <= first && first <= end && end <= rows);
  RETURN_IF_ERROR(CheckMatrix(tensor, rows, cols));
  Remember(tensor);
  const Tensor& found = *Find(tensor);
  Matrix<float> matrix(end - first, cols);
  Convert(found, first, end, matrix.view().data());
  if (found.transposed) {
    Forget(found.bytes);
  } else {
    Forget(RowsOf(found, first, end));
  }
  const absl::Span<const float> values(matrix.view().data(),
                                       static_cast<size_t>(end - first) * cols);
  RETURN_IF_ERROR(CheckFinite(tensor, values, first, cols, name_));
  return matrix;
}

absl::StatusOr<std::vector<float>> Checkpoint::ReadVector(const std::string& tensor,
                                                          int size) const {
  const Tensor* found = Find(tensor);
  if (found == nullptr) return NoTensor(tensor, name_);
  if (found->shape != std::vector<int64_t>{size} && found->shape != std::vector<int64_t>{1, size}) {
    return WrongShape(tensor, *found, absl::StrCat(size), name_);
  }
  RETURN_IF_ERROR(CheckWeight(tensor, *found, name_));
  Remember(tensor);
  std::vector<float> vector(size);
  Convert(*found, 0, found->shape[0], vector.data());
  Forget(found->bytes);
  RETURN_IF_ERROR(CheckFinite(tensor, vector, 0, 0, name_));
  return vector;
}

absl::StatusOr<Tensor> Checkpoint::Take(const std::string& tensor) const {
  const Tensor* const found = Find(tensor);
  if (found == nullptr) return NoTensor(tensor, name_);
  Remember(tensor);
  return *found;
}

float Checkpoint::StepOf(const std::string& tensor) const {
  const Tensor* const found = Find(tensor);
  const bool has = found != nullptr && found->dtype == DType::kI8 && found->scales.size() == 1;
  return has ? 1.0f / found->scales[0] : 0.0f;
}

void Checkpoint::Remember(const std::string& tensor) const {
  absl::MutexLock lock(&reads_->mutex);
  reads_->names.insert(tensor);
}

std::vector<std::string> Checkpoint::Unread() const {
  absl::MutexLock lock(&reads_->mutex);
  // Vectors and numbers are too often equal by chance.
  const auto is_copy = [&](const Tensor& tensor) ABSL_EXCLUSIVE_LOCKS_REQUIRED(reads_->mutex) {
    return tensor.shape.size() > 1 && absl::c_any_of(reads_->names, [&](const std::string& name) {
             const Tensor& read = tensors_.at(name);
             return read.dtype == tensor.dtype && read.shape == tensor.shape &&
                    read.scales == tensor.scales && read.transposed == tensor.transposed &&
                    read.added == tensor.added &&
                    std::memcmp(read.bytes.data(), tensor.bytes.data(), read.bytes.size()) == 0;
           });
  };
  std::vector<std::string> unread;
  for (const auto& [name, tensor] : tensors_) {
    if (!reads_->names.contains(name) && !is_copy(tensor)) unread.push_back(name);
  }
  return unread;
}

absl::Status CheckAllIsRead(const Checkpoint& checkpoint) {
  const std::vector<std::string> unread = checkpoint.Unread();
  if (unread.empty()) return absl::OkStatus();
  const size_t more = unread.size() - 1;
  return InvalidArgumentError(
      unread.front(), more > 0 ? absl::StrCat(" (and ", more, " more)") : "", " in ",
      checkpoint.name(),
      " has no place in the network that the configuration describes; want the "
      "same layers, of the same kinds, in both");
}

void Checkpoint::Forget(absl::Span<const std::byte> bytes) const {
  for (const std::shared_ptr<const MappedFile>& file : files_) {
    if (file->Holds(bytes)) file->Forget(bytes);
  }
}

}  // namespace dragoman
