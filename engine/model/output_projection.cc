#include "engine/model/output_projection.h"

#include <algorithm>
#include <utility>

namespace dragoman {

absl::StatusOr<OutputProjection> OutputProjection::Create(MatrixView<const float> embeddings,
                                                          absl::Span<const float> bias,
                                                          Precision precision) {
  OutputProjection projection;
  projection.precision_ = precision;
  for (int first = 0; first < embeddings.rows(); first += kTile) {
    const int tokens = std::min(kTile, embeddings.rows() - first);
    ASSIGN_OR_RETURN(PackedGemm tile,
                     PackedGemm::Create(embeddings.Rows(first, tokens), bias.subspan(first, tokens),
                                        Activation::kNone, precision));
    projection.tiles_.push_back(std::move(tile));
  }
  return projection;
}

void OutputProjection::Run(MatrixView<const float> x, LogitsSink sink, Workspace* ws) const {
  GemmInput& input = ws->gemm.input;
  input.Assign(x, precision_);
  int first = 0;
  for (const PackedGemm& tile : tiles_) {
    ws->logits.Resize(x.rows(), tile.outputs());
    tile.Apply(input, ws->logits.view(), &ws->gemm);
    sink(first, ws->logits.view());
    first += tile.outputs();
  }
}

}  // namespace dragoman
