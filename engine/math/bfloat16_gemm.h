// Matrix multiplication in bfloat16, with a kernel of our own for the matrix product of 64-bit ARM
// (BFMMLA of ARMv8.6: Neoverse V1 and N2, Apple M2).  Other CPUs leave bfloat16 to oneDNN, whose
// build in Debian has no kernels for ARM.
//
// BFMMLA multiplies two rows of four inputs by the weights of two outputs:
//
//   x       | a0 a1 a2 a3 | b0 b1 b2 b3 |      of rows a and b
//   weights | v0 v1 v2 v3 | w0 w1 w2 w3 |      of outputs v and w
//   sums    |  av  |  aw  |  bv  |  bw  |      each += two products, and then the other two
//
// A sum is computed in this order whatever the row beside it is, so the row law holds.

#ifndef DRAGOMAN_ENGINE_MATH_BFLOAT16_GEMM_H_
#define DRAGOMAN_ENGINE_MATH_BFLOAT16_GEMM_H_

#include <vector>

#include "absl/types/span.h"
#include "engine/math/bfloat16.h"
#include "engine/math/matrix.h"
#include "engine/math/panel_gemm.h"

namespace dragoman {

// A weight matrix with its bias and activation, packed.  Immutable, so safe for concurrent use.
class BFloat16Gemm : public PanelGemm {
 public:
  // Whether this CPU has the instruction.
  static bool Possible();

  // `weight` is [outputs, inputs]; `bias` has `outputs` elements or none.
  BFloat16Gemm(MatrixView<const float> weight, absl::Span<const float> bias, Activation activation);

  // Computes the outputs of the panels [first_panel, end_panel).
  // REQUIRES: Possible(); x is [rows, inputs()], y [rows, outputs()].
  void Apply(MatrixView<const BFloat16> x, int first_panel, int end_panel,
             MatrixView<float> y) const;

  // to[i] += factor * w[output][i], the rounded weight.  REQUIRES: `to` has inputs() elements.
  void AddWeights(int output, float factor, absl::Span<float> to) const;

 private:
  // The weight of input 0 and an output.  A panel holds, for every four inputs, the four weights of
  // each output, with zeros at the end.
  BFloat16* weights(int output) const;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_BFLOAT16_GEMM_H_
