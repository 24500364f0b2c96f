// Matrix multiplication, in the precision that a model was loaded with.
//
//   y = activation(x W + b)        x [rows, inputs], W [inputs, outputs], y [rows, outputs]
//
// W is packed once and serves every number of rows.  Either kernels of ours multiply or oneDNN
// does:
//
//   float32    ours, or oneDNN if asked for
//   bfloat16   oneDNN, where the CPU has instructions for it or if asked for
//   int8       ours for few rows; for many whichever is faster on this machine, since both give the
//              same bytes: so the choice is made by every call, and shows nowhere but in time
//
// The row law: row i of y depends on row i of x alone, bit for bit, whatever the number of rows and
// wherever i lies.

#ifndef DRAGOMAN_ENGINE_MATH_GEMM_H_
#define DRAGOMAN_ENGINE_MATH_GEMM_H_

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/base/thread_team.h"
#include "engine/math/activation.h"
#include "engine/math/float32_gemm.h"
#include "engine/math/int8_gemm.h"
#include "engine/math/matrix.h"
#include "engine/math/onednn_gemm.h"
#include "engine/math/onednn_int8.h"
#include "engine/math/precision.h"

namespace dragoman {

// The activations of a product in the numbers that its precision multiplies, made once for all the
// weights that they meet.  Memory is kept from one use to the next.
class GemmInput {
 public:
  // Converts `x` [rows, inputs]; in float32 it refers to it or copies it (Float32Gemm::RowStride).
  // REQUIRES: x is contiguous.
  void Assign(MatrixView<const float> x, Precision precision, ThreadTeam* team);

  int rows() const { return x_.rows(); }
  // REQUIRES: it was assigned in int8.
  const QuantizedRows& int8() const { return int8_; }

 private:
  friend class PackedGemm;

  void SpaceRows(ThreadTeam* team);

  MatrixView<const float> x_;
  MatrixView<const float> float32_;  // x_, or the same numbers in spaced_
  Matrix<float> spaced_;             // [rows, RowStride]
  Matrix<uint16_t> bfloat16_;
  QuantizedRows int8_;
};

// The threads that multiply, and the memory that they need for it, which grows to what was needed.
// Belongs to one thread, the team's leader.
struct GemmScratch {
  explicit GemmScratch(int threads = 1) : team(threads), onednn(threads) {}

  ThreadTeam team;
  GemmInput input;
  std::vector<OneDnnScratch> onednn;  // of each member
};

// A weight matrix with its bias and activation, packed.  Immutable, so safe for concurrent use.
class PackedGemm {
 public:
  // `weight` is [outputs, inputs], the transpose of W, as checkpoints keep it; `bias` has `outputs`
  // elements or none.  FAILED_PRECONDITION if there is no fast kernel for it on this CPU, or none
  // that keeps the row law; INVALID_ARGUMENT if int8 meets a weight that is not finite.  `steps`
  // are those of int8 (QuantizeWeights), one for each output, or none. REQUIRES: the precision is
  // not kAuto.
  static absl::StatusOr<PackedGemm> Create(MatrixView<const float> weight,
                                           absl::Span<const float> bias, Activation activation,
                                           Arithmetic arithmetic,
                                           absl::Span<const float> steps = {});

  int inputs() const;
  int outputs() const;

  // Whether the weights can be read back: those that our own kernels packed can.
  bool readable() const;
  // to[i] += factor * W[i][output], rounded as it was packed.
  // REQUIRES: readable(); `to` has inputs() elements.
  void AddWeights(int output, float factor, absl::Span<float> to) const;

  // REQUIRES: `x` was assigned [rows, inputs()] in this precision, y is [rows, outputs()] and
  // contiguous and apart.
  void Apply(const GemmInput& x, MatrixView<float> y, GemmScratch* scratch) const;
  // The same by one member of the team alone, while the others do something else.
  void ApplyAlone(const GemmInput& x, MatrixView<float> y, int member, GemmScratch* scratch) const;
  // The same by all of them for an x that meets no other weight.
  void Apply(MatrixView<const float> x, MatrixView<float> y, GemmScratch* scratch) const;

 private:
  using Gemm = std::variant<Float32Gemm, OneDnnGemm, Int8Gemm>;
  PackedGemm(Precision precision, Gemm gemm) : precision_(precision), gemm_(std::move(gemm)) {}

  static absl::StatusOr<PackedGemm> CreateInt8(MatrixView<const float> weight,
                                               absl::Span<const float> bias, Activation activation,
                                               Matmul matmul, absl::Span<const float> steps);

  // How a product of `rows` rows is shared out: into pieces, at least `grain` for each thread.
  struct Plan {
    int pieces;  // panels, strips of rows, or blocks of both
    int grain;
    int strip = 0;                   // rows
    OneDnnInt8::Blocks blocks = {};  // by oneDNN, if there are any
  };
  Plan PlanFor(int rows, int members) const;
  // Computes the pieces [first, end).
  void Compute(const Plan& plan, int first, int end, const GemmInput& x, MatrixView<float> y,
               OneDnnScratch* scratch) const;

  Precision precision_;
  Gemm gemm_;
  std::optional<OneDnnInt8> onednn_int8_;  // for an Int8Gemm
  int onednn_rows_ = 0;                    // the fewest rows that oneDNN multiplies
};

// OK if this CPU multiplies so, by a matrix of an ordinary shape.
absl::Status CanMultiply(Arithmetic arithmetic);

// Who multiplies: "native", "onednn", or "native+onednn" if it depends on the number of rows.
std::string GemmMatmul(Arithmetic arithmetic);

// The instruction set that products use, such as "avx512_vnni", or two joined by "+".
std::string GemmIsa(Arithmetic arithmetic);

// Names all that decides on this machine how numbers are rounded, such as "int8/avx3_dl" or
// "bfloat16/onednn-2.6.3-avx512_core_amx/avx3_spr": the precision, who multiplies where that
// matters, and the instruction set of all else.  Where it is the same, the same version of the same
// model gives the same bytes.
std::string Fingerprint(Arithmetic arithmetic);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_GEMM_H_
