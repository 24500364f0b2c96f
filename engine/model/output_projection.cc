#include "engine/model/output_projection.h"

#include <algorithm>
#include <utility>

namespace dragoman {
namespace {

using Candidates = absl::Span<const int32_t>;

// Gives `sink` the logits of those of a row's candidates that the tile has.
void Pick(Candidates candidates, int row, int first_token, absl::Span<float> logits,
          LogitsSink sink) {
  const int end_token = first_token + static_cast<int>(logits.size());
  const auto begin = std::lower_bound(candidates.begin(), candidates.end(), first_token);
  const auto end = std::lower_bound(begin, candidates.end(), end_token);
  const int count = static_cast<int>(end - begin);
  if (count == 0) return;
  // In place: candidates ascend, so none is overwritten before it is read.
  for (int i = 0; i < count; ++i) logits[i] = logits[begin[i] - first_token];
  sink({row, MatrixView<float>(logits.data(), 1, count), 0, Candidates(begin, count)});
}

}  // namespace

absl::StatusOr<OutputProjection> OutputProjection::Create(MatrixView<const float> embeddings,
                                                          absl::Span<const float> bias,
                                                          Precision precision, bool selective) {
  OutputProjection projection;
  projection.precision_ = precision;
  for (int first = 0; first < embeddings.rows(); first += kTile) {
    const int tokens = std::min(kTile, embeddings.rows() - first);
    ASSIGN_OR_RETURN(PackedGemm tile,
                     PackedGemm::Create(embeddings.Rows(first, tokens), bias.subspan(first, tokens),
                                        Activation::kNone, precision));
    projection.tiles_.push_back(std::move(tile));
  }
  if (selective && precision == Precision::kInt8) {
    ASSIGN_OR_RETURN(projection.rows_, Int8Rows::Create(embeddings, bias));
  }
  return projection;
}

void OutputProjection::Run(MatrixView<const float> x, absl::Span<const Candidates> candidates,
                           LogitsSink sink, Workspace* ws) const {
  if (!rows_.has_value()) return RunTiles(x, 0, candidates, sink, ws);
  for (int first = 0, end; first < x.rows(); first = end) {
    const Candidates common = candidates[first];
    end = first + 1;
    while (end < x.rows() && candidates[end].size() == common.size() &&
           (common.empty() || candidates[end].data() == common.data())) {
      ++end;
    }
    const MatrixView<const float> rows = x.Rows(first, end - first);
    if (common.empty()) {
      RunTiles(rows, first, candidates.subspan(first, end - first), sink, ws);
      continue;
    }
    GemmInput& input = ws->gemm.input;
    input.Assign(rows, precision_);
    ws->logits.Resize(rows.rows(), static_cast<int>(common.size()));
    rows_->Apply(input.int8(), common, ws->logits.view());
    sink({first, ws->logits.view(), 0, common});
  }
}

// All rows through all tiles.
void OutputProjection::RunTiles(MatrixView<const float> x, int first_row,
                                absl::Span<const Candidates> candidates, LogitsSink sink,
                                Workspace* ws) const {
  const bool picks = std::any_of(candidates.begin(), candidates.end(),
                                 [](Candidates row) { return !row.empty(); });
  GemmInput& input = ws->gemm.input;
  input.Assign(x, precision_);
  int first = 0;
  for (const PackedGemm& tile : tiles_) {
    ws->logits.Resize(x.rows(), tile.outputs());
    const MatrixView<float> logits = ws->logits.view();
    tile.Apply(input, logits, &ws->gemm);
    if (!picks) sink({first_row, logits, first, {}});
    for (int r = 0; picks && r < x.rows(); ++r) {
      if (candidates[r].empty()) {
        sink({first_row + r, logits.Rows(r, 1), first, {}});
      } else {
        Pick(candidates[r], first_row + r, first, logits.Row(r), sink);
      }
    }
    first += tile.outputs();
  }
}

}  // namespace dragoman
