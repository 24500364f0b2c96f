// Matrix multiplication in bfloat16 by oneDNN, and the only door to that library: sums, bias and
// results are float32.
//
// A weight is packed once into the layout that the CPU's kernels read, and serves every number of
// rows: a call of many rows is cut into blocks of at most kMaxRows, and there is one primitive for
// each number of rows up to that, made and tried when the first weight of its shape is packed.  So
// a call makes nothing and cannot fail.
//
// oneDNN keeps the row law (gemm.h) on some machines and not on others, so Create tries it out on
// this one, once for every shape.

#ifndef DRAGOMAN_ENGINE_MATH_ONEDNN_GEMM_H_
#define DRAGOMAN_ENGINE_MATH_ONEDNN_GEMM_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/base/weight_memory.h"
#include "engine/math/activation.h"
#include "engine/math/matrix.h"

namespace dragoman {

class MatmulFamily;  // all primitives of one shape (onednn_gemm.cc)

// Memory that a primitive needs while it runs.  One per thread; grows to what was needed.
using OneDnnScratch = Matrix<unsigned char>;

// y = activation(x W + b) for one W and b.  Immutable, so safe for concurrent use.
class OneDnnGemm {
 public:
  // The most rows that one primitive multiplies.
  static constexpr int kMaxRows = 64;

  // `weight` is [outputs, inputs], the transpose of W; `bias` has `outputs` elements or none.
  // FAILED_PRECONDITION if this CPU has no fast kernel for it or breaks the row law.
  static absl::StatusOr<OneDnnGemm> Create(MatrixView<const float> weight,
                                           absl::Span<const float> bias, Activation activation);

  int inputs() const { return inputs_; }
  int outputs() const { return outputs_; }

  // REQUIRES: x is [rows, inputs()] in bfloat16, y [rows, outputs()], both contiguous.
  void Apply(MatrixView<const uint16_t> x, MatrixView<float> y, OneDnnScratch* scratch) const;

 private:
  int inputs_ = 0;
  int outputs_ = 0;
  std::shared_ptr<const MatmulFamily> family_;
  WeightMemory weight_;  // in the family's layout
  Matrix<float> bias_;   // [1, outputs]
};

// The instruction set that oneDNN multiplies with, such as "avx512_core_bf16".
std::string OneDnnIsa();

// Whether the CPU multiplies bfloat16 natively.
bool OneDnnHasBFloat16();

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_ONEDNN_GEMM_H_
