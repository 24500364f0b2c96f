// The last layer: from the decoder's output to a score for every token of the vocabulary (section
// 3.4).  It goes through the vocabulary in tiles that stay in the cache, so that the scores of a
// large batch never reach memory: whoever ranks them takes each tile while it is warm.

#ifndef DRAGOMAN_ENGINE_MODEL_OUTPUT_PROJECTION_H_
#define DRAGOMAN_ENGINE_MODEL_OUTPUT_PROJECTION_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "engine/model/workspace.h"

namespace dragoman {

// Takes the logits [rows, tokens] of the tokens first_token, first_token + 1, ...  May overwrite
// them.
using LogitsSink = absl::FunctionRef<void(int first_token, MatrixView<float> logits)>;

// Immutable, so safe for concurrent use with a workspace for each thread.
class OutputProjection {
 public:
  // Tokens of a tile.
  static constexpr int kTile = 512;

  // `embeddings` is [vocabulary, d_model], `bias` [vocabulary].
  static absl::StatusOr<OutputProjection> Create(MatrixView<const float> embeddings,
                                                 absl::Span<const float> bias, Precision precision);

  // Gives the logits of `x` [rows, d_model] to `sink`, tile after tile, from token 0 to the last.
  void Run(MatrixView<const float> x, LogitsSink sink, Workspace* ws) const;

 private:
  Precision precision_ = Precision::kFloat32;
  std::vector<PackedGemm> tiles_;  // [d_model, kTile], the last one perhaps narrower
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_OUTPUT_PROJECTION_H_
