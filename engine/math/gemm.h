// Matrix multiplication, in the precision that a model was loaded with.
//
//   y = activation(x W + b)        x [rows, inputs], W [inputs, outputs], y [rows, outputs]
//
// W is packed once and serves every number of rows.
//
// The row law: row i of y depends on row i of x alone, bit for bit, whatever the number of rows and
// wherever i lies.

#ifndef DRAGOMAN_ENGINE_MATH_GEMM_H_
#define DRAGOMAN_ENGINE_MATH_GEMM_H_

#include <string>
#include <utility>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/math/activation.h"
#include "engine/math/int8_gemm.h"
#include "engine/math/matrix.h"
#include "engine/math/onednn_gemm.h"
#include "engine/math/precision.h"

namespace dragoman {

// The activations of a product in the numbers that its precision multiplies, made once for all the
// weights that they meet.  Memory is kept from one use to the next.
class GemmInput {
 public:
  // Converts `x` [rows, inputs]; in float32 it only refers to it.  REQUIRES: x is contiguous.
  void Assign(MatrixView<const float> x, Precision precision);

  int rows() const { return x_.rows(); }
  // REQUIRES: it was assigned in int8.
  const QuantizedRows& int8() const { return int8_; }

 private:
  friend class PackedGemm;

  MatrixView<const float> x_;
  Matrix<uint16_t> bfloat16_;
  QuantizedRows int8_;
};

// Memory that a product needs while it runs.  One per thread; grows to what was needed.
struct GemmScratch {
  GemmInput input;
  OneDnnScratch onednn;
};

// A weight matrix with its bias and activation, packed.  Immutable, so safe for concurrent use.
class PackedGemm {
 public:
  // `weight` is [outputs, inputs], the transpose of W, as checkpoints keep it; `bias` has `outputs`
  // elements or none.  FAILED_PRECONDITION if this CPU has no fast kernel for it or breaks the row
  // law; INVALID_ARGUMENT if int8 meets a weight that is not finite.  REQUIRES: precision is not
  // kAuto.
  static absl::StatusOr<PackedGemm> Create(MatrixView<const float> weight,
                                           absl::Span<const float> bias, Activation activation,
                                           Precision precision);

  int inputs() const;
  int outputs() const;

  // REQUIRES: `x` was assigned [rows, inputs()] in this precision, y is [rows, outputs()] and
  // contiguous and apart.
  void Apply(const GemmInput& x, MatrixView<float> y, GemmScratch* scratch) const;
  // The same for an x that meets no other weight.
  void Apply(MatrixView<const float> x, MatrixView<float> y, GemmScratch* scratch) const;

 private:
  PackedGemm(Precision precision, OneDnnGemm gemm)
      : precision_(precision), gemm_(std::move(gemm)) {}
  explicit PackedGemm(Int8Gemm gemm) : precision_(Precision::kInt8), gemm_(std::move(gemm)) {}

  Precision precision_;
  std::variant<OneDnnGemm, Int8Gemm> gemm_;
};

// The instruction set that products of this precision use, such as "avx512_core_vnni".
std::string GemmIsa(Precision precision);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_GEMM_H_
