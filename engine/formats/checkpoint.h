// The tensors of a model by name, however its files store them.  Each file format (engine/formats)
// produces one of these; the layers read their weights from it and never learn which format it was.
//
// A checkpoint holds its mapped files and copies nothing until a tensor is read.  Reading converts
// to float32 and checks that every number is finite: a single NaN in a bias would make every
// translation an INTERNAL error.  The checkpoint remembers what was read, so that a tensor for
// which the network has no use is noticed when the model loads: it would translate wrongly without
// it.

#ifndef DRAGOMAN_ENGINE_FORMATS_CHECKPOINT_H_
#define DRAGOMAN_ENGINE_FORMATS_CHECKPOINT_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "engine/base/mapped_file.h"
#include "engine/base/packed_file.h"
#include "engine/math/matrix.h"

namespace dragoman {

// The element types that a file can hold.  Weights have one of the first six; the others occur
// beside them (a table of positions, a flag) and are not read as float32.
enum class DType { kF32, kF16, kBF16, kF64, kI8, kI16, kI32, kI64, kU8, kBool };

size_t SizeOf(DType dtype);       // bytes of one element
const char* NameOf(DType dtype);  // "F32"

// The dtype with that name; nullopt if there is none.
std::optional<DType> ParseDType(std::string_view name);

// What every format accepts of a tensor.
constexpr int kMaxDimensions = 8;
constexpr int32_t kMaxDimension = std::numeric_limits<int32_t>::max();  // Matrix counts in int

// A product b a that is added to a matrix when it is read (lora.h).
struct LowRank {
  Matrix<float> a;  // [rank, inputs]
  Matrix<float> b;  // [outputs, rank]
};

// One tensor as stored in the file, little-endian.
struct Tensor {
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;         // outermost first; every dimension is positive
  absl::Span<const std::byte> bytes;  // exactly the product of shape times SizeOf(dtype)
  // For kI8 and kI16: an integer i stands for i / scale.  One scale for each element of the
  // outermost dimension, or one for all; empty means 1.
  std::vector<float> scales;
  // The elements are in column-major order.  Only a matrix can be transposed.
  bool transposed = false;
  std::shared_ptr<const LowRank> added;  // null: nothing
};

// The number of bytes of a shape; nullopt if it overflows.
std::optional<uint64_t> BytesFor(const std::vector<int64_t>& shape, DType dtype);

// Thread-safe: the tensors never change after construction.
class Checkpoint {
 public:
  // `files` hold the tensors' bytes.  It may be empty if something else keeps them alive for as
  // long as this lives.
  Checkpoint(std::string name, std::vector<std::shared_ptr<const MappedFile>> files,
             std::map<std::string, Tensor> tensors);

  // These tensors under other names; those renamed to "" are left out.  If several tensors get
  // the same name, the first in the order of the old names has it, and the others keep their own.
  Checkpoint Renamed(absl::FunctionRef<std::string(const std::string&)> name) const;
  // Without the tensors of these names; a name may begin or end with *, which stands for any text.
  Checkpoint Without(absl::Span<const char* const> names) const;

  // With these added to the tensors of these names.  REQUIRES: they have the tensors' shapes.
  Checkpoint WithAdded(const std::map<std::string, std::shared_ptr<const LowRank>>& added) const;

  bool Has(const std::string& tensor) const;
  const Tensor* Find(const std::string& tensor) const;  // nullptr if there is none

  // The tensor as float32.  A tensor [n] or [1, n] is a vector of n.  NOT_FOUND if there is none
  // with that name; INVALID_ARGUMENT if it has another shape or one of its numbers is infinite or
  // NaN: "model.encoder.layers.0.fc1.weight is [512, 1024], want [512, 2048] in model.safetensors";
  // also INVALID_ARGUMENT if its type is not one of weights (I32 and the like).
  absl::StatusOr<Matrix<float>> ReadMatrix(const std::string& tensor, int rows, int cols) const;
  // Whether ReadMatrix would succeed.
  absl::Status CheckMatrix(const std::string& tensor, int rows, int cols) const;
  // The rows [first, end) of a tensor [rows, cols].
  absl::StatusOr<Matrix<float>> ReadRows(const std::string& tensor, int rows, int cols, int first,
                                         int end) const;
  absl::StatusOr<std::vector<float>> ReadVector(const std::string& tensor, int size) const;

  // The tensor as it is stored, to be read by other means.  NOT_FOUND if there is none.
  absl::StatusOr<Tensor> Take(const std::string& tensor) const;

  // The value of 1 in an 8-bit tensor with a single scale; 0 for any other tensor.
  float StepOf(const std::string& tensor) const;

  // The tensors that were neither read nor taken, except copies of matrices that were: a tied table
  // is often in a file under several names.
  std::vector<std::string> Unread() const;

  // Lets the pages of (a part of) a tensor that was read leave this process's memory; reading it
  // again maps them anew.  The Read functions call this themselves.
  void Forget(absl::Span<const std::byte> bytes) const;

  // Where what is packed from these tensors is kept; null: nowhere.  It must outlive whatever reads
  // the tensors.
  void set_packed(const PackedWeights* packed) { packed_ = packed; }
  const PackedWeights* packed() const { return packed_; }

  const std::string& name() const { return name_; }  // of the file, for messages
  const std::vector<std::shared_ptr<const MappedFile>>& files() const { return files_; }
  const std::map<std::string, Tensor>& tensors() const { return tensors_; }

 private:
  // In an object of its own, so that a checkpoint can be moved.
  struct Reads {
    absl::Mutex mutex;
    std::set<std::string> names ABSL_GUARDED_BY(mutex);
  };
  void Remember(const std::string& tensor) const;

  std::string name_;
  std::vector<std::shared_ptr<const MappedFile>> files_;
  std::map<std::string, Tensor> tensors_;
  const PackedWeights* packed_ = nullptr;
  std::unique_ptr<Reads> reads_ = std::make_unique<Reads>();
};

// INVALID_ARGUMENT naming an unread tensor: the configuration has fewer layers than the file, or
// layers of another kind, or the file is of a network that this engine does not know.
absl::Status CheckAllIsRead(const Checkpoint& checkpoint);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_FORMATS_CHECKPOINT_H_
