// Matrix multiplication, and the only door to oneDNN.
//
//   y = activation(x W + b)        x [rows, inputs], W [inputs, outputs], y [rows, outputs]
//
// W is packed once into the layout that the CPU's kernels read, and serves every number of rows: a
// call of many rows is cut into blocks of at most kMaxRows, and there is one primitive for each
// number of rows up to that, made and tried when the first weight of its shape is packed.  So a
// call makes nothing and cannot fail.
//
// The row law: row i of y depends on row i of x alone, bit for bit, whatever the number of rows and
// wherever i lies.  oneDNN keeps it on some machines and not on others, so Create tries it out on
// this one, once for every shape.

#ifndef DRAGOMAN_ENGINE_MATH_GEMM_H_
#define DRAGOMAN_ENGINE_MATH_GEMM_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/math/activation.h"
#include "engine/math/matrix.h"

namespace dragoman {

class MatmulFamily;  // all primitives of one shape (gemm.cc)

// Memory that a primitive needs while it runs.  One per thread; grows to what was needed.
using GemmScratch = Matrix<unsigned char>;

// A weight matrix with its bias and activation, packed.  Immutable, so safe for concurrent use.
class PackedGemm {
 public:
  // The most rows that one primitive multiplies.
  static constexpr int kMaxRows = 64;

  // `weight` is [outputs, inputs], the transpose of W, as checkpoints keep it; `bias` has `outputs`
  // elements or none.  FAILED_PRECONDITION if this CPU has no fast kernel for it or breaks the row
  // law.
  static absl::StatusOr<PackedGemm> Create(MatrixView<const float> weight,
                                           absl::Span<const float> bias, Activation activation);

  PackedGemm(PackedGemm&&) noexcept;
  PackedGemm& operator=(PackedGemm&&) noexcept;
  ~PackedGemm();

  int inputs() const { return inputs_; }
  int outputs() const { return outputs_; }

  // REQUIRES: x is [rows, inputs()] and y [rows, outputs()], both contiguous and apart.
  void Apply(MatrixView<const float> x, MatrixView<float> y, GemmScratch* scratch) const;

 private:
  PackedGemm() = default;

  int inputs_ = 0;
  int outputs_ = 0;
  std::shared_ptr<const MatmulFamily> family_;
  Matrix<unsigned char> weight_;  // in the family's layout
  Matrix<float> bias_;            // [1, outputs]
};

// The instruction set that matrices are multiplied with, such as "avx512_core_bf16".
std::string GemmIsa();

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_GEMM_H_
