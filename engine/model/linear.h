// y = activation(x W + b), the layer that does nearly all of a Transformer's arithmetic.

#ifndef DRAGOMAN_ENGINE_MODEL_LINEAR_H_
#define DRAGOMAN_ENGINE_MODEL_LINEAR_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/formats/checkpoint.h"
#include "engine/math/gemm.h"
#include "engine/math/matrix.h"
#include "engine/math/precision.h"

namespace dragoman {

// A layer's parameters as stored in the checkpoint.  The matrix is not read before it is packed: it
// need not be, if it has been packed before.
struct Weight {
  int outputs = 0, inputs = 0;
  std::function<absl::StatusOr<Matrix<float>>()> w;  // [outputs, inputs]: the transpose of the
                                                     // paper's W
  std::vector<float> b;                              // [outputs], or empty: none
  // If the checkpoint stores it in 8 bits with one scale: for each output, the value of 1.
  std::vector<float> steps = {};
  // What w is made of, which is its name where packed weights are kept: "fc1", or "q*0.125|8".
  std::string recipe = {};
  const PackedWeights* packed = nullptr;  // null: it is not kept
};

// A tensor as w, with its shape; without bias.
absl::StatusOr<Weight> LazyWeight(const Checkpoint& checkpoint, const std::string& tensor,
                                  int outputs, int inputs);

// Reads PREFIX.weight [outputs, inputs] and, if wanted, PREFIX.bias [outputs].
absl::StatusOr<Weight> ReadWeight(const Checkpoint& checkpoint, const std::string& prefix,
                                  int outputs, int inputs, bool bias);

// Concatenates the outputs of several layers with the same input (q | k | v), so that one product
// computes them all.
Weight Fuse(const std::vector<Weight>& parts);

// Multiplies every output by `factor`: x (W f) + b f.
void Scale(float factor, Weight* weight);

// Interleaves the heads of a projection's outputs, or of its inputs, one element of each head at a
// time (attend.h): output d_k h + i becomes output heads i + h.
void InterleaveOutputs(int heads, Weight* weight);
void InterleaveInputs(int heads, Weight* weight);

// The weights are packed once, when the model loads.  Keeps the row law.  Thread-safe.
class Linear {
 public:
  static absl::StatusOr<Linear> Create(const Weight& weight, Activation activation,
                                       Arithmetic arithmetic);
  // `w` is [outputs, inputs], `b` [outputs].
  static absl::StatusOr<Linear> Create(MatrixView<const float> w, absl::Span<const float> b,
                                       Activation activation, Arithmetic arithmetic,
                                       absl::Span<const float> steps = {});

  int inputs() const { return gemm_.inputs(); }
  int outputs() const { return gemm_.outputs(); }

  // Makes y [rows of x, outputs()].  REQUIRES: x is contiguous and has inputs() columns.
  void Apply(MatrixView<const float> x, Matrix<float>* y, GemmScratch* scratch) const;
  // Into the caller's memory: y is [rows of x, outputs()].
  void Apply(MatrixView<const float> x, MatrixView<float> y, GemmScratch* scratch) const;

 private:
  explicit Linear(PackedGemm gemm) : gemm_(std::move(gemm)) {}

  PackedGemm gemm_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_LINEAR_H_
