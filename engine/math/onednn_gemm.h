// Matrix multiplication in float32 or bfloat16 by oneDNN, under the row law (gemm.h).
//
// oneDNN does not promise the row law.  It sums in one order where a block of its kernels is full
// of rows and in another where it is not; a full block has 1 row on some instruction sets, 6 or 16
// on others.  So rows are multiplied in whole tiles,
//
//   rows      r0 r1 r2 r3 r4 r5 | r6 r7  0  0  0  0        a tile of 6: the second one is filled up
//
// of a height that keeps the law.  The height is determined by trial when the first weight of a
// shape is packed: every row must come out the same at every position, beside any other rows and in
// any number of tiles.  A shape for which no height passes is refused.

#ifndef DRAGOMAN_ENGINE_MATH_ONEDNN_GEMM_H_
#define DRAGOMAN_ENGINE_MATH_ONEDNN_GEMM_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/base/weight_memory.h"
#include "engine/math/activation.h"
#include "engine/math/matrix.h"
#include "engine/math/onednn_matmul.h"
#include "engine/math/precision.h"

namespace dragoman {

// y = activation(x W + b) for one W and b.  Immutable, so safe for concurrent use.
class OneDnnGemm {
 public:
  // `weight` is [outputs, inputs], the transpose of W; `bias` has `outputs` elements or none.
  // FAILED_PRECONDITION if oneDNN has no fast kernel for it on this CPU or breaks the row law.
  // REQUIRES: precision is float32 or bfloat16.
  static absl::StatusOr<OneDnnGemm> Create(MatrixView<const float> weight,
                                           absl::Span<const float> bias, Activation activation,
                                           Precision precision);

  int inputs() const { return matmul_->shape().inputs; }
  int outputs() const { return matmul_->shape().outputs; }

  // Whether the weights can be read back (OneDnnMatmul).
  bool readable() const { return matmul_->readable(); }
  // to[i] += factor * W[i][output], as it was packed.
  // REQUIRES: readable(); `to` has inputs() elements.
  void AddWeights(int output, float factor, absl::Span<float> to) const {
    matmul_->AddPacked(weight_.data(), output, factor, to);
  }

  // Rows that are multiplied together; incomplete tiles take as long as full ones.
  int tile() const { return matmul_->tile(); }

  // `x` is [rows of y, inputs()] in this precision, y [rows, outputs()]; both are contiguous.
  void Apply(const void* x, MatrixView<float> y, OneDnnScratch* scratch) const;

 private:
  std::shared_ptr<const OneDnnMatmul> matmul_;
  WeightMemory weight_;  // in its layout
  Matrix<float> bias_;   // [1, outputs]
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_ONEDNN_GEMM_H_
