// Matrix multiplication in the precision that a model was loaded with.
//
//   y = activation(x W + b)        x [rows, inputs], W [inputs, outputs], y [rows, outputs]
//
// W is packed once and serves every number of rows.  Either our kernels or oneDNN multiply:
//
//   float32    ours, or oneDNN on request
//   bfloat16   ours, on 64-bit ARM with instructions for it; else oneDNN, where the CPU has them or
//   on
//              request
//   int8       ours; on a CPU with AMX, oneDNN from a number of rows that is measured, or always on
//              request.  Both give the same bytes, so each call may choose, and the choice shows
//              only in time
//
// The row law: row i of y depends on row i of x alone, bit for bit, whatever the number of rows and
// the position of i.

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
#include "engine/math/bfloat16.h"
#include "engine/math/bfloat16_gemm.h"
#include "engine/math/float32_gemm.h"
#include "engine/math/int8_gemm.h"
#include "engine/math/matrix.h"
#include "engine/math/onednn_gemm.h"
#include "engine/math/onednn_int8.h"
#include "engine/math/precision.h"

namespace dragoman {

// The activations of a product, converted once to the precision of all the weights that they are
// multiplied by.  Keeps its memory from one use to the next.
class GemmInput {
 public:
  // Converts `x` [rows, inputs].  In float32 it refers to x or copies it (Float32Gemm::RowStride).
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
  Matrix<BFloat16> bfloat16_;
  QuantizedRows int8_;
};

// The threads that multiply, and their memory, which grows as needed.  Belongs to one thread, the
// team's leader.
struct GemmScratch {
  explicit GemmScratch(int threads = 1) : team(threads), onednn(threads) {}

  ThreadTeam team;
  GemmInput input;
  std::vector<OneDnnScratch> onednn;  // of each member
};

// A weight matrix with its bias and activation, packed.  Immutable, so safe for concurrent use.
class PackedGemm {
 public:
  // `weight` is [outputs, inputs], the transpose of W, as in checkpoints; `bias` has `outputs`
  // elements or none.  FAILED_PRECONDITION if this CPU has no fast kernel for it, or none that
  // keeps the row law; INVALID_ARGUMENT if an int8 weight is not finite.  `steps` are the steps of
  // int8 weights (QuantizeWeights), one per output, or none.  REQUIRES: the precision is not kAuto.
  static absl::StatusOr<PackedGemm> Create(MatrixView<const float> weight,
                                           absl::Span<const float> bias, Activation activation,
                                           Arithmetic arithmetic,
                                           absl::Span<const float> steps = {});

  // The same as it was stored, with weights in the file.  Nothing if they are not in it, or if this
  // arithmetic reads them in another layout.
  static std::optional<PackedGemm> Restore(const std::shared_ptr<const PackedFile>& file,
                                           const std::string& name, int outputs, int inputs,
                                           Activation activation, Arithmetic arithmetic);
  // Stores the weights, but only those of our own int8 kernels.
  void Store(const std::string& name, PackedFileWriter* file) const;

  int inputs() const;
  int outputs() const;

  // Whether the weights can be read back.  Only int8 weights in a layout of oneDNN's cannot.
  bool readable() const;
  // to[i] += factor * W[i][output], rounded as it was packed.
  // REQUIRES: readable(); `to` has inputs() elements.
  void AddWeights(int output, float factor, absl::Span<float> to) const;

  // REQUIRES: `x` was assigned [rows, inputs()] in this precision; y is [rows, outputs()],
  // contiguous, and does not overlap x.
  void Apply(const GemmInput& x, MatrixView<float> y, GemmScratch* scratch) const;
  // Apply by a single member of the team, while the others do something else.
  void ApplyAlone(const GemmInput& x, MatrixView<float> y, int member, GemmScratch* scratch) const;
  // Apply for an x that is used with no other weight.
  void Apply(MatrixView<const float> x, MatrixView<float> y, GemmScratch* scratch) const;

 private:
  using Gemm = std::variant<Float32Gemm, OneDnnGemm, Int8Gemm, BFloat16Gemm>;
  PackedGemm(Precision precision, Gemm gemm) : precision_(precision), gemm_(std::move(gemm)) {}

  // How oneDNN helps to multiply int8 weights, if it does.
  struct Help {
    std::optional<OneDnnInt8> onednn;
    int rows = 0;  // from how many rows on

    bool has_own_weights() const { return onednn.has_value() && !onednn->reads_panels(); }
  };
  static absl::StatusOr<Help> HelpFor(int outputs, int inputs, Matmul matmul);
  static PackedGemm Int8With(Int8Gemm gemm, Help help);
  static absl::StatusOr<PackedGemm> CreateInt8(MatrixView<const float> weight,
                                               absl::Span<const float> bias, Activation activation,
                                               Matmul matmul, absl::Span<const float> steps);

  // How a product of `rows` rows is divided: into pieces, at least `grain` for each thread.
  struct Plan {
    int pieces;  // panels, strips of rows, or blocks of both
    int grain;
    int strip = 0;                   // rows
    OneDnnInt8::Blocks blocks = {};  // of oneDNN, if there are any
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

// OK if this CPU can multiply a matrix of an ordinary shape this way.
absl::Status CanMultiply(Arithmetic arithmetic);

// What multiplies: "native", "onednn", or "native+onednn" if it depends on the number of rows.
std::string GemmMatmul(Arithmetic arithmetic);

// The instruction set of the products, such as "avx512_vnni", or two joined by "+".
std::string GemmIsa(Arithmetic arithmetic);

// The version of the order in which numbers are computed.  A change of the bytes of translations
// increases it.
constexpr int kArithmeticVersion = 1;

// Names everything that determines how numbers are rounded on this machine, such as "int8/fma-1" or
// "bfloat16/onednn-2.6.3-avx512_core_amx/fma-1": the precision, what multiplies (where that
// matters), whether products and sums are rounded together ("fma") or apart ("mul-add"), and the
// kArithmeticVersion.  Where the fingerprints are equal, the same model gives the same bytes.
std::string Fingerprint(Arithmetic arithmetic);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_GEMM_H_
