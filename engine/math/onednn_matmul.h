// Matrix products of one shape by oneDNN, which only this file uses:
//
//   y [rows, outputs] = activation(x [rows, inputs] W + b)
//
// in float32 or bfloat16, with b and y in float32; or only the sums, in 32-bit integers, of
// products of unsigned by signed 8-bit integers.
//
// A weight is packed once into the layout that the CPU's kernels read, and serves every number of
// rows.  There is one primitive for each number of rows, created in advance: so a call creates
// nothing and cannot fail.

#ifndef DRAGOMAN_ENGINE_MATH_ONEDNN_MATMUL_H_
#define DRAGOMAN_ENGINE_MATH_ONEDNN_MATMUL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/math/activation.h"
#include "engine/math/matrix.h"
#include "engine/math/precision.h"

namespace dragoman {

// Memory that a primitive needs while it runs.  One per thread; grows as needed.
using PrimitiveScratch = Matrix<unsigned char>;

// What a whole product needs, in any precision.  One per thread; grows as needed.
struct OneDnnScratch {
  PrimitiveScratch primitive;
  Matrix<unsigned char> x;             // rows of activations, copied
  Matrix<float> y;                     // their results
  Matrix<int32_t> sums, partial_sums;  // in int8
};

struct MatmulShape {
  Precision precision;  // not kAuto
  int inputs, outputs;
  Activation activation = Activation::kNone;  // kNone in int8

  auto operator<=>(const MatmulShape&) const = default;
};

// Immutable, so safe for concurrent use.
class OneDnnMatmul {
 public:
  // The most rows of a call.
  static constexpr int kMaxRows = 64;

  // For calls of `tile`, 2 tile, 3 tile rows and so on up to kMaxRows.  FAILED_PRECONDITION if
  // oneDNN has no fast kernel for the shape on this CPU.
  static absl::StatusOr<std::unique_ptr<const OneDnnMatmul>> Create(const MatmulShape& shape,
                                                                    int tile);
  ~OneDnnMatmul();

  const MatmulShape& shape() const { return shape_; }
  int tile() const { return tile_; }

  // The size of a packed weight.
  size_t packed_bytes() const;
  // Whether a packed int8 weight has the layout of Int8Gemm's panels.
  bool packs_panels() const;
  // Writes a weight [outputs, inputs], the transpose of W, into `packed`.  The weight is float32
  // for the floating point precisions and 8-bit integers for int8.
  void Pack(MatrixView<const float> weight, std::byte* packed) const;
  void Pack(MatrixView<const int8_t> weight, std::byte* packed) const;

  // Whether AddPacked can be called: the layout is described by strides and blocks.
  bool readable() const;
  // to[i] += factor * W[i][output], as it was packed.
  // REQUIRES: readable(), a floating point precision; `to` has `inputs` elements.
  void AddPacked(const std::byte* packed, int output, float factor, absl::Span<float> to) const;

  // Multiplies `rows` contiguous rows.  `y` is float32 or, for int8, int32_t.  `bias` has `outputs`
  // elements and is not read in int8.  REQUIRES: rows is a multiple of tile() up to kMaxRows.
  void Multiply(int rows, const void* x, const std::byte* packed, const float* bias, void* y,
                PrimitiveScratch* scratch) const;

 private:
  struct Primitives;

  OneDnnMatmul(const MatmulShape& shape, int tile);

  MatmulShape shape_;
  int tile_;
  std::unique_ptr<const Primitives> primitives_;
};

// The size of one element of x.
int BytesOf(Precision precision);

// The instruction set that oneDNN multiplies with, such as "avx512_core_bf16".
std::string OneDnnIsa();

// Whether it has AMX (tile registers).
bool OneDnnHasAmx();

// Whether it has instructions for bfloat16.  Without them oneDNN converts every number on the way
// and is slower than in float32.
bool OneDnnHasBFloat16();

// For example "2.6.3".
std::string OneDnnVersion();

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_ONEDNN_MATMUL_H_
