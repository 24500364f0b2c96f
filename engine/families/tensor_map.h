// Gives the tensors of a file the names that the engine knows, one by one.  What is left over keeps
// its own name, so that whoever reads the result can refuse it (CheckAllIsRead in checkpoint.h).

#ifndef DRAGOMAN_ENGINE_FAMILIES_TENSOR_MAP_H_
#define DRAGOMAN_ENGINE_FAMILIES_TENSOR_MAP_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "engine/formats/checkpoint.h"

namespace dragoman {

class TensorMap {
 public:
  // `from` must outlive this.
  explicit TensorMap(const Checkpoint& from) : from_(from) {}

  // Takes the tensor as it is.  NOT_FOUND if there is none.
  absl::Status Take(const std::string& to, const std::string& name);
  // Takes a matrix [inputs, outputs] as [outputs, inputs].
  absl::Status TakeTransposed(const std::string& to, const std::string& name);
  // Takes the first rows of a matrix.  INVALID_ARGUMENT if it has fewer.
  absl::Status TakeRows(const std::string& to, const std::string& name, int64_t rows);
  // Gives each name an equal share of the rows.  INVALID_ARGUMENT if they cannot be divided so.
  absl::Status TakeParts(const std::vector<std::string>& to, const std::string& name);

  // A tensor that is in no file.
  void Add(const std::string& to, Tensor tensor) { taken_[to] = std::move(tensor); }
  // One that was taken.  REQUIRES: it was.
  const Tensor& at(const std::string& to) const { return taken_.at(to); }

  // The tensors that were taken, and those that were neither taken nor read before, under their old
  // names.
  Checkpoint Finish() &&;

 private:
  const Checkpoint& from_;
  std::map<std::string, Tensor> taken_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_FAMILIES_TENSOR_MAP_H_
