// The last layer: from the decoder's output to a score for every token of the vocabulary (section
// 3.4).  It goes through the vocabulary in tiles that stay in the cache, so that the scores of a
// large batch never reach memory: the ranking reads each tile while it is still in the cache.
//
// A row may be scored for some tokens only, the candidates of its sentence (text/shortlist.h).  In
// int8 no other token is computed, if the projection was made selective.  Otherwise, and in the
// other precisions, all are computed and the candidates' scores are picked from them: the same
// result, and no faster.

#ifndef DRAGOMAN_ENGINE_MODEL_OUTPUT_PROJECTION_H_
#define DRAGOMAN_ENGINE_MODEL_OUTPUT_PROJECTION_H_

#include <cstdint>
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
  // Tokens of a tile.
  static constexpr int kTile = 512;

  // For a vocabulary whose tokens are still to be appended.  `selective`: rows with candidates are
  // to be fast, which in int8 takes vocabulary x d_model more bytes.
  OutputProjection(int vocabulary, int d_model, Arithmetic arithmetic, bool selective);

  // The next tokens' `embeddings` [tokens, d_model] and `bias` [tokens], so that a large table need
  // not be in memory at once.  Fails as PackedGemm::Create does.
  // REQUIRES: tokens is a multiple of kTile, except at the end of the vocabulary.
  // `step` is theirs in int8 (QuantizeWeights).
  absl::Status Append(MatrixView<const float> embeddings, absl::Span<const float> bias,
                      float step = 0.0f);

  // Whether AddEmbedding can be asked.  REQUIRES: all tokens are appended.
  bool readable() const { return rows_.has_value() || tiles_.front().readable(); }
  // out[i] += factor * element i of the token's embedding, rounded as it was packed.
  // REQUIRES: readable(); 0 <= token < vocabulary.
  void AddEmbedding(int32_t token, float factor, absl::Span<float> out) const;

  // Gives the logits of `x` [rows, d_model] to `sink`: of row i those of candidates[i], which are
  // ascending, each once, or of all tokens if it has none.  Adjacent rows and have the
  // same candidates in the same place are computed together.  The workspace's team shares out the
  // tiles, then the rows whose logits `sink` is given.  REQUIRES: x has rows.
  void Run(MatrixView<const float> x, absl::Span<const absl::Span<const int32_t>> candidates,
           LogitsSink sink, Workspace* ws) const;

 private:
  using Candidates = absl::Span<const int32_t>;

  void RunTiles(MatrixView<const float> x, int first_row, absl::Span<const Candidates> candidates,
                LogitsSink sink, Workspace* ws) const;

  Arithmetic arithmetic_;
  int appended_ = 0;               // tokens
  std::vector<PackedGemm> tiles_;  // [d_model, kTile], the last one perhaps narrower
  std::optional<Int8Rows> rows_;   // [vocabulary, d_model], if selective in int8
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_OUTPUT_PROJECTION_H_
