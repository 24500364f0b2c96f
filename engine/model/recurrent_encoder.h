// The encoder of a recurrent network: cells that read a sentence token by token, from both ends.
// The sentences of a batch are read side by side; each token's row is the same as if its sentence
// were alone.

#ifndef DRAGOMAN_ENGINE_MODEL_RECURRENT_ENCODER_H_
#define DRAGOMAN_ENGINE_MODEL_RECURRENT_ENCODER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "engine/model/gated_cell.h"
#include "engine/model/network.h"
#include "engine/spec/recurrent_spec.h"

namespace dragoman {

// Immutable, so safe for concurrent use with a workspace for each thread.
class RecurrentEncoder {
 public:
  static absl::StatusOr<RecurrentEncoder> Create(const Checkpoint& checkpoint,
                                                 const ModelSpec& spec,
                                                 const RecurrentSpec& details,
                                                 Arithmetic arithmetic);

  int width() const { return width_; }  // of its output

  // `embedded` is [tokens, d_model], `encoded` becomes [tokens, width()].
  void Run(const TokenBatch& batch, MatrixView<const float> embedded, Matrix<float>* encoded,
           Workspace* ws) const;

 private:
  struct Layer {
    std::vector<GatedCell> cells;
    bool backward = false;
  };
  using Stack = std::vector<Layer>;

  RecurrentEncoder() = default;
  void RunStack(const Stack& stack, const TokenBatch& batch, MatrixView<const float> in,
                MatrixView<float> out, Workspace* ws) const;
  void RunLayer(const Layer& layer, const TokenBatch& batch, MatrixView<const float> in,
                MatrixView<float> out, Workspace* ws) const;

  int state_width_ = 0;
  int width_ = 0;
  bool skip_ = false;
  Stack forward_, backward_;
  Stack above_;  // reads the outputs of both, if it has layers
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_RECURRENT_ENCODER_H_
