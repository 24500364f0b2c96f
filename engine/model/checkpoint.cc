#include "engine/model/checkpoint.h"

#include <bit>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are read as they lie");

float FromBits(uint32_t bits) { return std::bit_cast<float>(bits); }

// IEEE 754 half precision: 1 sign, 5 exponent and 10 fraction bits.  Exact for every value; free of
// branches, so that the compiler vectorizes a loop over it.
float FromF16(uint16_t half) {
  const uint32_t magnitude = static_cast<uint32_t>(half & 0x7FFF) << 13;  // float32's alignment
  const uint32_t exponent = magnitude & 0x0F800000;
  const uint32_t normal = magnitude + ((127 - 15) << 23);
  // A subnormal is fraction * 2^-24: let the subtraction of 2^-14 from 2^-14 * 1.fraction find it.
  const uint32_t subnormal =
      std::bit_cast<uint32_t>(FromBits(magnitude + (113 << 23)) - FromBits(113 << 23));
  const uint32_t special = magnitude + ((255 - 31) << 23);  // infinity and NaN
  const uint32_t finite = exponent == 0 ? subnormal : normal;
  const uint32_t bits = exponent == 0x0F800000 ? special : finite;
  return FromBits(bits | static_cast<uint32_t>(half & 0x8000) << 16);
}

// The upper half of a float32.
float FromBF16(uint16_t half) { return FromBits(static_cast<uint32_t>(half) << 16); }

// The bytes of a file have no alignment, hence memcpy, which compiles to a plain load.
template <float (*kConvert)(uint16_t)>
void ConvertHalves(const std::byte* from, size_t count, float* to) {
  for (size_t i = 0; i < count; ++i) {
    uint16_t half;
    std::memcpy(&half, from + i * sizeof(half), sizeof(half));
    to[i] = kConvert(half);
  }
}

void Convert(const Tensor& tensor, float* to) {
  const size_t count = tensor.bytes.size() / SizeOf(tensor.dtype);
  switch (tensor.dtype) {
    case DType::kF32:
      std::memcpy(to, tensor.bytes.data(), tensor.bytes.size());
      break;
    case DType::kF16:
      ConvertHalves<FromF16>(tensor.bytes.data(), count, to);
      break;
    case DType::kBF16:
      ConvertHalves<FromBF16>(tensor.bytes.data(), count, to);
      break;
  }
}

// Rows [first, end) of a matrix.
Tensor RowsOf(const Tensor& tensor, int first, int end) {
  const int64_t cols = tensor.shape[1];
  const size_t row = SizeOf(tensor.dtype) * cols;
  return {
      tensor.dtype, {end - first, cols}, tensor.bytes.subspan(first * row, (end - first) * row)};
}

absl::Status WrongShape(const std::string& name, const Tensor& tensor, const std::string& want,
                        const std::string& file) {
  return absl::InvalidArgumentError(absl::StrCat(name, " is [", absl::StrJoin(tensor.shape, ", "),
                                                 "], want [", want, "] in ", file));
}

absl::Status NoTensor(const std::string& name, const std::string& file) {
  return absl::NotFoundError(absl::StrCat("there is no tensor ", name, " in ", file));
}

}  // namespace

size_t SizeOf(DType dtype) { return dtype == DType::kF32 ? 4 : 2; }

const char* NameOf(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "F32";
    case DType::kF16:
      return "F16";
    case DType::kBF16:
      return "BF16";
  }
  return "";
}

Checkpoint::Checkpoint(std::string name, std::shared_ptr<const MappedFile> file,
                       std::map<std::string, Tensor> tensors)
    : name_(std::move(name)), file_(std::move(file)), tensors_(std::move(tensors)) {}

Checkpoint Checkpoint::Renamed(absl::FunctionRef<std::string(const std::string&)> name) const {
  Checkpoint renamed = *this;
  renamed.tensors_.clear();
  for (const auto& [old, tensor] : tensors_) {
    const std::string now = name(old);
    if (!now.empty()) renamed.tensors_.emplace(now, tensor);
  }
  return renamed;
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
  return absl::OkStatus();
}

absl::StatusOr<Matrix<float>> Checkpoint::ReadRows(const std::string& tensor, int rows, int cols,
                                                   int first, int end) const {
  DRAGOMAN_CHECK(0 <= first && first <= end && end <= rows);
  RETURN_IF_ERROR(CheckMatrix(tensor, rows, cols));
  const Tensor part = RowsOf(*Find(tensor), first, end);
  Matrix<float> matrix(end - first, cols);
  Convert(part, matrix.view().data());
  Forget(part);
  return matrix;
}

absl::StatusOr<std::vector<float>> Checkpoint::ReadVector(const std::string& tensor,
                                                          int size) const {
  const Tensor* found = Find(tensor);
  if (found == nullptr) return NoTensor(tensor, name_);
  if (found->shape != std::vector<int64_t>{size} && found->shape != std::vector<int64_t>{1, size}) {
    return WrongShape(tensor, *found, absl::StrCat(size), name_);
  }
  std::vector<float> vector(size);
  Convert(*found, vector.data());
  Forget(*found);
  return vector;
}

}  // namespace dragoman
