// The product of Int8Gemm with its sums computed by oneDNN, which is faster than our kernels for
// many rows if the CPU has AMX.
//
// 32-bit sums of 8-bit products are exact, and Int8Gemm turns them into results, so both ways give
// the same bytes and any call may use either.  The product is cut into blocks of rows by panels
// such that a block's weights and sums stay in the second level cache.
//
// Where oneDNN uses the layout of Int8Gemm's panels (AVX-512 with VNNI, and AMX), it reads those,
// and nothing is packed twice.
//
// Elsewhere oneDNN's sums are not always exact, which is tested with the largest numbers.  Without
// VNNI it adds two products in 16 bits, and 255 x 127 + 255 x 127 does not fit: so x is multiplied
// in two parts that do fit, x = 2 floor(x / 2) + x mod 2, at twice the cost.  And on AVX2, version
// 3.7 rounds sums to float32: so they are computed over slices of the inputs, whose sums have at
// most 24 bits.

#ifndef DRAGOMAN_ENGINE_MATH_ONEDNN_INT8_H_
#define DRAGOMAN_ENGINE_MATH_ONEDNN_INT8_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/base/weight_memory.h"
#include "engine/math/int8_gemm.h"
#include "engine/math/matrix.h"
#include "engine/math/onednn_matmul.h"

namespace dragoman {

// Immutable once it is packed, so safe for concurrent use.
class OneDnnInt8 {
 public:
  // For weights [outputs, inputs].  FAILED_PRECONDITION if oneDNN has no fast kernel for them on
  // this CPU, or one whose sums differ.
  static absl::StatusOr<OneDnnInt8> Create(int inputs, int outputs);

  // Whether it reads the panels of an Int8Gemm.  Otherwise it needs its own packed weights.
  bool reads_panels() const { return reads_panels_; }
  // Whether it reads them and computes each sum in one product.
  bool InPlace() const { return reads_panels_ && !halves_; }
  // REQUIRES: it does not read panels; `weight` [outputs, inputs] is finite.
  void Pack(MatrixView<const float> weight, absl::Span<const float> steps = {});

  // A product of `rows` rows is cut into blocks of at most `height` rows by a number of panels.
  struct Blocks {
    int height;
    int count;
  };
  // For `members` of a team.  REQUIRES: rows > 0.
  Blocks Cut(int rows, int members) const;

  // Computes the blocks [first, end) of y [rows, outputs].  REQUIRES: `gemm` has the same weight; x
  // has as many rows as y.
  void Apply(const Int8Gemm& gemm, const QuantizedRows& x, const Blocks& blocks, int first, int end,
             MatrixView<float> y, OneDnnScratch* scratch) const;

 private:
  OneDnnInt8() = default;
  // Cuts the inputs into slices of this length.  False if oneDNN's sums over them are not exact.
  absl::StatusOr<bool> Slice(int inputs);
  const OneDnnMatmul& matmul(int part, int slice) const {
    return *matmuls_[part + 1 < parts_ ? 0 : 1][slice + 1 < slices_ ? 0 : 1];
  }
  std::byte* packed(int part, int slice) const {
    return packed_.data() + (part * slices_ + slice) * matmuls_[0][0]->packed_bytes();
  }
  // sums [rows, outputs of the part] = x [rows, inputs] times the weights of one part, in several
  // products.
  void TakeSums(const Int8Gemm& gemm, int part, MatrixView<const uint8_t> x,
                OneDnnScratch* scratch) const;

  int inputs_ = 0;  // rounded up to a multiple of Int8Gemm::kQuad
  int outputs_ = 0;
  int panels_ = 0;  // of a part; the last one may have fewer
  int parts_ = 0;   // of the outputs
  int slice_ = 0;   // inputs of a slice; the last one may have fewer
  int slices_ = 0;  // of the inputs
  // For a part and for the last part, over a slice and over the last slice.
  std::shared_ptr<const OneDnnMatmul> matmuls_[2][2];
  bool reads_panels_ = false;
  bool halves_ = false;  // x is multiplied in two parts
  WeightMemory packed_;  // of all parts and slices, unless it reads panels
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_ONEDNN_INT8_H_
