// Why tiles? 64 rows by a vocabulary of 58,101 are 14.9 MB of logits, more than a core's caches
// hold: writing them out and reading them again would cost more than the multiplication.  A tile of
// 512 tokens is 131 kB. It is computed, passed to the ranking, and overwritten by the next one.

#include "engine/model/output_projection.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace dragoman {
namespace {

using TokenList = absl::Span<const int32_t>;

// The names of the blocks of a file.
constexpr char kRowsName[] = "output rows";
std::string TileName(size_t tile) { return absl::StrCat("output ", tile); }

// Passes to `sink` those logits of a row's shortlist that are in the tile.
void Pick(TokenList shortlist, int row, int first_token, absl::Span<float> logits,
          LogitsSink sink) {
  const int end_token = first_token + static_cast<int>(logits.size());
  const auto begin = std::lower_bound(shortlist.begin(), shortlist.end(), first_token);
  const auto end = std::lower_bound(begin, shortlist.end(), end_token);
  const int count = static_cast<int>(end - begin);
  if (count == 0) return;
  // In place: tokens ascend, so none is overwritten before it is read.
  for (int i = 0; i < count; ++i) logits[i] = logits[begin[i] - first_token];
  sink({row, MatrixView<float>(logits.data(), 1, count), 0, TokenList(begin, count)});
}

// Passes to `sink` what it needs of a tile's rows, which start at row first_row of the whole.
void Give(absl::Span<const TokenList> shortlists, int first_row, int first_token,
          MatrixView<float> logits, LogitsSink sink) {
  const bool picks =
      std::any_of(shortlists.begin(), shortlists.end(), [](TokenList row) { return !row.empty(); });
  if (!picks) return sink({first_row, logits, first_token, {}});
  for (int r = 0; r < logits.rows(); ++r) {
    if (shortlists[r].empty()) {
      sink({first_row + r, logits.Rows(r, 1), first_token, {}});
    } else {
      Pick(shortlists[r], first_row + r, first_token, logits.Row(r), sink);
    }
  }
}

}  // namespace

OutputProjection::OutputProjection(int vocabulary, int d_model, Arithmetic arithmetic,
                                   bool selective)
    : arithmetic_(arithmetic) {
  if (selective && arithmetic.precision == Precision::kInt8) rows_.emplace(vocabulary, d_model);
}

absl::Status OutputProjection::Append(MatrixView<const float> embeddings,
                                      absl::Span<const float> bias, float step) {
  const std::vector<float> steps(step > 0.0f ? kTile : 0, step);
  DRAGOMAN_CHECK(appended_ % kTile == 0);
  for (int first = 0; first < embeddings.rows(); first += kTile) {
    const int tokens = std::min(kTile, embeddings.rows() - first);
    ASSIGN_OR_RETURN(PackedGemm tile,
                     PackedGemm::Create(embeddings.Rows(first, tokens), bias.subspan(first, tokens),
                                        Activation::kNone, arithmetic_, steps));
    tiles_.push_back(std::move(tile));
  }
  if (rows_.has_value()) RETURN_IF_ERROR(rows_->Set(appended_, embeddings, bias, step));
  appended_ += embeddings.rows();
  return absl::OkStatus();
}

void OutputProjection::Store(PackedFileWriter* file) const {
  for (size_t t = 0; t < tiles_.size(); ++t) tiles_[t].Store(TileName(t), file);
  if (rows_.has_value()) rows_->Store(kRowsName, file);
}

std::shared_ptr<OutputProjection> OutputProjection::Restore(
    const std::shared_ptr<const PackedFile>& file, int vocabulary, int d_model,
    Arithmetic arithmetic, bool selective) {
  std::shared_ptr<OutputProjection> projection(new OutputProjection());
  projection->arithmetic_ = arithmetic;
  projection->appended_ = vocabulary;
  for (int first = 0; first < vocabulary; first += kTile) {
    std::optional<PackedGemm> tile = PackedGemm::Restore(file, TileName(projection->tiles_.size()),
                                                         std::min(kTile, vocabulary - first),
                                                         d_model, Activation::kNone, arithmetic);
    if (!tile.has_value()) return nullptr;
    projection->tiles_.push_back(*std::move(tile));
  }
  if (!selective) return projection;
  projection->rows_ = Int8Rows::Restore(file, kRowsName, vocabulary, d_model);
  return projection->rows_.has_value() ? projection : nullptr;
}

void OutputProjection::AddEmbedding(int32_t token, float factor, absl::Span<float> out) const {
  if (rows_.has_value()) return rows_->AddWeights(token, factor, out);
  tiles_[token / kTile].AddWeights(token % kTile, factor, out);
}

void OutputProjection::Run(MatrixView<const float> x, absl::Span<const TokenList> shortlists,
                           LogitsSink sink, Workspace* ws) const {
  if (!rows_.has_value()) return RunTiles(x, 0, shortlists, sink, ws);
  for (int first = 0, end; first < x.rows(); first = end) {
    const TokenList common = shortlists[first];
    end = first + 1;
    while (end < x.rows() && shortlists[end].size() == common.size() &&
           (common.empty() || shortlists[end].data() == common.data())) {
      ++end;
    }
    const MatrixView<const float> rows = x.Rows(first, end - first);
    if (common.empty()) {
      RunTiles(rows, first, shortlists.subspan(first, end - first), sink, ws);
      continue;
    }
    GemmInput& input = ws->gemm.input;
    input.Assign(rows, arithmetic_.precision, &ws->team());
    ws->logits.resize(std::max<size_t>(ws->logits.size(), 1));
    Matrix<float>& logits = ws->logits.front();
    logits.Resize(rows.rows(), static_cast<int>(common.size()));
    rows_->Apply(input.int8(), common, logits.view());
    sink({first, logits.view(), 0, common});
  }
}

// Computes all rows in all tiles.  A single thread computes a tile and ranks it while it is in the
// cache; a team computes as many at once as its caches hold, and then ranks them.
void OutputProjection::RunTiles(MatrixView<const float> x, int first_row,
                                absl::Span<const TokenList> shortlists, LogitsSink sink,
                                Workspace* ws) const {
  ThreadTeam& team = ws->team();
  ws->gemm.input.Assign(x, arithmetic_.precision, &team);
  constexpr size_t kCache = 512 << 10;  // bytes of logits that stay in the cache of a core
  const int tiles = static_cast<int>(tiles_.size());
  const int fit = static_cast<int>(kCache / (sizeof(float) * kTile * x.rows()));
  const int together = team.size() == 1 ? 1 : std::min(tiles, team.size() * std::max(1, fit));
  if (static_cast<int>(ws->logits.size()) < together) ws->logits.resize(together);
  constexpr int kLeastRows = 2;  // fewer are not worth another thread
  for (int first = 0; first < tiles; first += together) {
    const int count = std::min(together, tiles - first);
    team.Split(count, 1, [&](int member, int from, int to) {
      for (int t = from; t < to; ++t) {
        const PackedGemm& tile = tiles_[first + t];
        ws->logits[t].Resize(x.rows(), tile.outputs());
        tile.ApplyAlone(ws->gemm.input, ws->logits[t].view(), member, &ws->gemm);
      }
    });
    team.Split(x.rows(), kLeastRows, [&](int, int from, int to) {
      for (int t = 0; t < count; ++t) {
        Give(shortlists.subspan(from, to - from), first_row + from, (first + t) * kTile,
             ws->logits[t].view().Rows(from, to - from), sink);
      }
    });
  }
}

}  // namespace dragoman
