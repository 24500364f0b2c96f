// A recurrent cell with gates (Cho et al. 2014) and the products that it is made of, each with its
// norm (Ba et al. 2016), as in Marian NMT and, before it, Nematus.
//
// Tensors have Marian's names, with prefixes such as "decoder_cell1"; matrices are [outputs,
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

// x W + b, with norms over parts of the outputs.  Immutable.
class NormedProduct {
 public:
  // Outputs that are normalized together: the first of them, gain and bias.
  struct Norm {
    int first = 0;
    std::vector<float> gain, bias;
    float epsilon = 0.0f;
  };

  static absl::StatusOr<NormedProduct> Create(const Weight& weight, std::vector<Norm> norms,
                                              Arithmetic arithmetic);

  int outputs() const { return linear_.outputs(); }
  // Makes y [rows, outputs()].  REQUIRES: the same as Linear.
  void Apply(MatrixView<const float> x, Matrix<float>* y, Workspace* ws) const;

 private:
  NormedProduct(Linear linear, std::vector<Norm> norms)
      : linear_(std::move(linear)), norms_(std::move(norms)) {}

  Linear linear_;
  std::vector<Norm> norms_;
};

// The names of a dense layer's tensors: the matrix and its bias; the gain of a norm that uses this
// bias as its own; and gain and bias of one of Nematus' norms, which comes after the bias.
struct DenseNames {
  std::string weight, bias, gain, own_gain, own_bias;
};
// Reads a dense layer with its norm, if it has one.  A bias "" means none.
absl::StatusOr<NormedProduct> ReadDense(const Checkpoint& checkpoint, const DenseNames& names,
                                        int outputs, int inputs, Arithmetic arithmetic);

// Immutable.
class GatedCell {
 public:
  struct Options {
    int inputs = 0;  // 0: a transition, which has no input
    int width = 0;   // of the state
    // Where the biases are added: in the reset gate's product (gates.h) and, with Nematus' norms,
    // to the product of the state.
    bool bias_in_reset = false;
    bool bias_of_state = false;
    bool encoder = false;
  };

  // Reads PREFIX_U, _Ux, _b, _bx and, with inputs, _W and _Wx; and PREFIX_gamma1 and _gamma2, or
  // PREFIX_W_lns, _W_lnb and so on, if they exist.
  static absl::StatusOr<GatedCell> Create(const Checkpoint& checkpoint, const std::string& prefix,
                                          const Options& options, Arithmetic arithmetic);

  // The contribution of the inputs `x` [rows, inputs]: [rows, 3 width].  REQUIRES: there are
  // inputs.
  void Project(MatrixView<const float> x, Matrix<float>* out, Workspace* ws) const {
    input_->Apply(x, out, ws);
  }

  // Updates the states [rows, width]. projected(i) is row i of Project's output, or empty.
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
