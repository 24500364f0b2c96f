// A recurrent cell with gates (Cho et al. 2014) and the products that it is made of, each with its
// norm (Ba et al. 2016), as Marian NMT and before it Nematus have them.
//
// Tensors have the names of Marian's, prefixes as in "decoder_cell1"; matrices are [outputs,
// inputs].

#ifndef DRAGOMAN_ENGINE_MODEL_GATED_CELL_H_
#define DRAGOMAN_ENGINE_MODEL_GATED_CELL_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/formats/checkpoint.h"
#include "engine/model/linear.h"
#include "engine/model/workspace.h"

namespace dragoman {

// x W + b, parts of which are normed.  Immutable.
class NormedProduct {
 public:
  // Outputs that are normed together: their first, gain and bias.
  struct Norm {
    int first = 0;
    std::vector<float> gain, bias;
    float epsilon = 0.0f;
  };

  static absl::StatusOr<NormedProduct> Create(const Weight& weight, std::vector<Norm> norms,
                                              Arithmetic arithmetic);

  int outputs() const { return linear_.outputs(); }
  // Makes y [rows, outputs()].  REQUIRES: as of Linear.
  void Apply(MatrixView<const float> x, Matrix<float>* y, Workspace* ws) const;

 private:
  NormedProduct(Linear linear, std::vector<Norm> norms)
      : linear_(std::move(linear)), norms_(std::move(norms)) {}

  Linear linear_;
  std::vector<Norm> norms_;
};

// The names of what a dense layer has: the matrix and its bias; the gain of a norm whose bias is
// that one; and gain and bias of a norm of Nematus', which comes after the bias.
struct DenseNames {
  std::string weight, bias, gain, own_gain, own_bias;
};
// Reads a dense layer, with the norm that is there, if one is.  A bias "" is none.
absl::StatusOr<NormedProduct> ReadDense(const Checkpoint& checkpoint, const DenseNames& names,
                                        int outputs, int inputs, Arithmetic arithmetic);

// Immutable.
class GatedCell {
 public:
  struct Options {
    int inputs = 0;  // 0: a transition, which nothing comes into
    int width = 0;   // of the state
    // Where the biases go: in the reset gate's product (gates.h); and of Nematus' norms, into the
    // product of the state.
    bool bias_in_reset = false;
    bool bias_of_state = false;
    bool encoder = false;
  };

  // Reads PREFIX_U, _Ux, _b, _bx and, with inputs, _W and _Wx; and PREFIX_gamma1 and _gamma2, or
  // PREFIX_W_lns, _W_lnb and so on, if they are there.
  static absl::StatusOr<GatedCell> Create(const Checkpoint& checkpoint, const std::string& prefix,
                                          const Options& options, Arithmetic arithmetic);

  // What the inputs `x` [rows, inputs] bring: [rows, 3 width].  REQUIRES: there are inputs.
  void Project(MatrixView<const float> x, Matrix<float>* out, Workspace* ws) const {
    input_->Apply(x, out, ws);
  }

  // Updates the states [rows, width]; projected(i) is row i of what Project made, or empty.
  void Update(absl::FunctionRef<absl::Span<const float>(int)> projected, MatrixView<float> states,
              Workspace* ws) const;

 private:
  GatedCell(std::optional<NormedProduct> input, NormedProduct state)
      : input_(std::move(input)), state_(std::move(state)) {}

  std::optional<NormedProduct> input_;  // [inputs, 3 width]
  NormedProduct state_;                 // [width, 3 width]
  std::vector<float> bias_;             // [3 width], of the gates
  bool bias_in_reset_ = false;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_GATED_CELL_H_
