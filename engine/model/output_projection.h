// The last layer: from the decoder's output to a score for every token of the vocabulary (section
// 3.4).  It walks through the vocabulary in tiles that fit in the cache, so the scores of a large
// batch never reach memory: the ranking reads each tile while it is still in the cache.
//
// A row may need scores for some tokens only, those of its sentence's shortlist (text/shortlist.h).
// In int8, if the projection was created selective, no other token is computed.  Otherwise, and in
// the other precisions, all tokens are computed and the shortlist's scores are picked out: the
// result is the same, and no faster.

#ifndef DRAGOMAN_ENGINE_MODEL_OUTPUT_PROJECTION_H_
#define DRAGOMAN_ENGINE_MODEL_OUTPUT_PROJECTION_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/math/int8_rows.h"
#include "engine/model/logits_sink.h"
#include "engine/model/workspace.h"

namespace dragoman {

// Immutable once all tokens are appended, so safe for concurrent use with a workspace for each
// thread.
class OutputProjection {
 public:
  // Tokens per tile.
  static constexpr int kTile = 512;

  // For a vocabulary whose tokens are yet to be appended.  `selective`: rows with a shortlist must
  // be fast, which in int8 takes vocabulary x d_model more bytes.
  OutputProjection(int vocabulary, int d_model, Arithmetic arithmetic, bool selective);

  // Appends the next tokens' `embeddings` [tokens, d_model] and `bias` [tokens], so that a large
  // table need not be in memory at once.  Fails as PackedGemm::Create does.  `step` is the step of
  // these int8 embeddings (QuantizeWeights).  REQUIRES: tokens is a multiple of kTile, except at
  // the end of the vocabulary.
  absl::Status Append(MatrixView<const float> embeddings, absl::Span<const float> bias,
                      float step = 0.0f);

  // The same with all tokens as it was stored, with weights in the file; null if they are not in
  // it, or if this arithmetic reads them in another layout.
  static std::shared_ptr<OutputProjection> Restore(const std::shared_ptr<const PackedFile>& file,
                                                   int vocabulary, int d_model,
                                                   Arithmetic arithmetic, bool selective);
  void Store(PackedFileWriter* file) const;

  // Whether AddEmbedding may be called.  REQUIRES: all tokens have been appended.
  bool readable() const { return rows_.has_value() || tiles_.front().readable(); }
  // out[i] += factor * element i of the token's embedding, as rounded by packing.  REQUIRES:
  // readable(); 0 <= token < vocabulary.
  void AddEmbedding(int32_t token, float factor, absl::Span<float> out) const;

  // Passes the logits of `x` [rows, d_model] to `sink`: for row i those of shortlists[i], which are
  // ascending and unique, or of all tokens if it has none.  Adjacent rows with the same shortlists
  // at the same address are computed together.  The workspace's team divides the tiles, then the
  // rows whose logits `sink` gets.  REQUIRES: x has rows.
  void Run(MatrixView<const float> x, absl::Span<const absl::Span<const int32_t>> shortlists,
           LogitsSink sink, Workspace* ws) const;

  // Passes those of the rows that are scored, if there are any; row i of `x` is of rows[i].
  template <typename Row>
  void RunScored(MatrixView<const float> x, absl::Span<const Row> rows, LogitsSink sink,
                 Workspace* ws) const {
    ws->shortlists.clear();
    for (const Row& row : rows) {
      if (row.scored) ws->shortlists.push_back(row.shortlist);
    }
    const int scored = static_cast<int>(ws->shortlists.size());
    if (scored == 0) return;
    if (scored == x.rows()) return Run(x, ws->shortlists, sink, ws);
    ws->scored.Resize(scored, x.cols());
    for (int i = 0, to = 0; i < x.rows(); ++i) {
      if (rows[i].scored) std::copy_n(x.Row(i).data(), x.cols(), ws->scored.Row(to++).data());
    }
    Run(ws->scored.view(), ws->shortlists, sink, ws);
  }

 private:
  OutputProjection() = default;
  using TokenList = absl::Span<const int32_t>;

  void RunTiles(MatrixView<const float> x, int first_row, absl::Span<const TokenList> shortlists,
                LogitsSink sink, Workspace* ws) const;

  Arithmetic arithmetic_ = Precision::kFloat32;
  int appended_ = 0;               // tokens
  std::vector<PackedGemm> tiles_;  // [d_model, kTile], the last one perhaps narrower
  std::optional<Int8Rows> rows_;   // [vocabulary, d_model], if selective in int8
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_OUTPUT_PROJECTION_H_
