#include "engine/families/tensor_map.h"

#include <utility>

#include "engine/base/status.h"

namespace dragoman {

absl::Status TensorMap::Take(const std::string& to, const std::string& name) {
  ASSIGN_OR_RETURN(taken_[to], from_.Take(name));
  return absl::OkStatus();
}

absl::Status TensorMap::TakeTransposed(const std::string& to, const std::string& name) {
  RETURN_IF_ERROR(Take(to, name));
  Tensor& tensor = taken_.at(to);
  if (tensor.shape.size() != 2) {
    return InvalidArgumentError(name, " has ", tensor.shape.size(), " dimensions, want 2 in ",
                                from_.name());
  }
  std::swap(tensor.shape[0], tensor.shape[1]);
  tensor.transposed = !tensor.transposed;
  return absl::OkStatus();
}

absl::Status TensorMap::TakeRows(const std::string& to, const std::string& name, int64_t rows) {
  RETURN_IF_ERROR(Take(to, name));
  Tensor& tensor = taken_.at(to);
  if (tensor.shape.size() != 2 || tensor.shape[0] < rows) {
    return InvalidArgumentError(name, " is not a table of at least ", rows, " rows in ",
                                from_.name());
  }
  tensor.bytes = tensor.bytes.first(tensor.bytes.size() / tensor.shape[0] * rows);
  tensor.shape[0] = rows;
  return absl::OkStatus();
}

absl::Status TensorMap::TakeParts(const std::vector<std::string>& to, const std::string& name) {
  ASSIGN_OR_RETURN(const Tensor whole, from_.Take(name));
  const auto parts = static_cast<int64_t>(to.size());
  if (whole.shape.empty() || whole.shape[0] % parts != 0) {
    return InvalidArgumentError(name, " does not fall into ", parts, " parts in ", from_.name());
  }
  const int64_t rows = whole.shape[0] / parts;
  const size_t bytes = whole.bytes.size() / to.size();
  for (size_t i = 0; i < to.size(); ++i) {
    Tensor part{whole.dtype, whole.shape, whole.bytes.subspan(i * bytes, bytes), whole.scales};
    part.shape[0] = rows;
    if (whole.scales.size() > 1) {
      const auto begin = whole.scales.begin() + static_cast<ptrdiff_t>(i) * rows;
      part.scales.assign(begin, begin + rows);
    }
    taken_[to[i]] = std::move(part);
  }
  return absl::OkStatus();
}

Checkpoint TensorMap::Finish() && {
  for (const std::string& name : from_.Unread()) taken_.emplace(name, *from_.Find(name));
  return Checkpoint(from_.name(), from_.files(), std::move(taken_));
}

}  // namespace dragoman
