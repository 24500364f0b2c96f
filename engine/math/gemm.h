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

// Memory that a product needs while it runs.  One per thread; grows to what was needed.
struct GemmScratch {
  OneDnnScratch onednn;
  QuantizedRows quantized;
};

// A weight matrix with its bias and activation, packed.  Immutable, so safe for concurrent use.
class PackedGemm {
 public:
  // `weight` is [outputs, inputs], the transpose of W, as checkpoints keep it; `bias` has `outputs`
  // elements or none.  FAILED_PRECONDITION if this CPU has no fast kernel for it or breaks the row
  // law.  REQUIRES: precision is not kAuto.
  static absl::StatusOr<PackedGemm> Create(MatrixView<const float> weight,
                                           absl::Span<const float> bias, Activation activation,
                                           Precision precision);

  int inputs() const;
  int outputs() const;

  // REQUIRES: x is [rows, inputs()] and y [rows, outputs()], both contiguous and apart.
  void Apply(MatrixView<const float> x, MatrixView<float> y, GemmScratch* scratch) const;

 private:
  explicit PackedGemm(OneDnnGemm gemm) : gemm_(std::move(gemm)) {}
  explicit PackedGemm(Int8Gemm gemm) : gemm_(std::move(gemm)) {}

  std::variant<OneDnnGemm, Int8Gemm> gemm_;
};

// The instruction set that products of this precision use, such as "avx512_core_vnni".
std::string GemmIsa(Precision precision);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_GEMM_H_
