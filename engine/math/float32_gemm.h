// Matrix multiplication in float32, with a kernel of our own for each instruction set.
//
//   y[r][o] = activation(b[o] + x[r][0] w[o][0] + x[r][1] w[o][1] + ...)
//
// Every sum is computed in this order, in a lane of its own, so the row law holds for any number of
// rows.
//
// A tile of some rows by some outputs keeps its sums in registers.  A tall one (12 rows by 32
// outputs with AVX-512) reads the fewest weights; a wide one (6 by 64) needs the fewest
// instructions, because every element of x that is loaded serves more outputs.  Which is the
// fastest depends on the CPU; kernel_shapes.h measures it.  All of them give the same bytes.
//
// Why not oneDNN: without AVX-512 its float32 products break the row law; with AVX-512 it does not
// prefetch the next weights while it multiplies, so it is slower on models larger than the caches.

#ifndef DRAGOMAN_ENGINE_MATH_FLOAT32_GEMM_H_
#define DRAGOMAN_ENGINE_MATH_FLOAT32_GEMM_H_

#include <vector>

#include "absl/types/span.h"
#include "engine/math/matrix.h"
#include "engine/math/panel_gemm.h"

namespace dragoman {

// A weight matrix with its bias and activation, packed.  Immutable, so safe for concurrent use.
class Float32Gemm : public PanelGemm {
 public:
  // The largest tiles of a product.
  struct Tile {
    int rows, outputs;
  };
  // The tiles available for the CPU's instruction set, from tall to wide; at least one.
  static absl::Span<const Tile> Tiles();

  // `weight` is [outputs, inputs]; `bias` has `outputs` elements or none; `tile` is one of Tiles().
  Float32Gemm(MatrixView<const float> weight, absl::Span<const float> bias, Activation activation,
              const Tile& tile);

  // The preferred distance, in elements, between rows of x.  A product reads a dozen rows at once;
  // at a distance of a power of two they would compete for the same few cache lines.
  static int RowStride(int rows, int inputs);

  // Computes the outputs of the panels [first_panel, end_panel).
  // REQUIRES: x is [rows, inputs()], y [rows, outputs()].
  void Apply(MatrixView<const float> x, int first_panel, int end_panel, MatrixView<float> y) const;

  // to[i] += factor * w[output][i].  REQUIRES: `to` has inputs() elements.
  void AddWeights(int output, float factor, absl::Span<float> to) const;

 private:
  // A panel holds, for every input, the weight of each output.
  float* panel(int p) const { return reinterpret_cast<float*>(panels_.data() + p * shape_.bytes); }
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_FLOAT32_GEMM_H_
