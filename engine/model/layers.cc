#include "engine/model/layers.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "engine/math/kernels.h"

namespace dragoman {

absl::StatusOr<AddNorm> AddNorm::Create(const Checkpoint& checkpoint, const std::string& prefix,
                                        int d_model) {
  AddNorm norm;
  ASSIGN_OR_RETURN(norm.gain_, checkpoint.ReadVector(prefix + ".weight", d_model));
  ASSIGN_OR_RETURN(norm.bias_, checkpoint.ReadVector(prefix + ".bias", d_model));
  return norm;
}

void AddNorm::Apply(MatrixView<const float> y, MatrixView<float> x, Workspace* ws) const {
  constexpr int kLeastRows = 8;  // that are worth the attention of another thread
  ws->team().Split(x.rows(), kLeastRows, [&](int, int first, int end) {
    const MatrixView<float> rows = x.Rows(first, end - first);
    AddAndNorm(rows, y.Rows(first, end - first), gain_, bias_, kEpsilon, rows);
  });
}

absl::StatusOr<FeedForward> FeedForward::Create(const Checkpoint& checkpoint,
                                                const std::string& prefix, int d_model, int inner,
                                                Activation activation, Precision precision) {
  ASSIGN_OR_RETURN(const Weight w1, ReadWeight(checkpoint, prefix + ".fc1", inner, d_model));
  ASSIGN_OR_RETURN(const Weight w2, ReadWeight(checkpoint, prefix + ".fc2", d_model, inner));
  ASSIGN_OR_RETURN(Linear first, Linear::Create(w1, activation, precision));
  ASSIGN_OR_RETURN(Linear second, Linear::Create(w2, Activation::kNone, precision));
  ASSIGN_OR_RETURN(AddNorm norm,
                   AddNorm::Create(checkpoint, prefix + ".final_layer_norm", d_model));
  return FeedForward(std::move(first), std::move(second), std::move(norm));
}

void FeedForward::Apply(MatrixView<float> x, Workspace* ws) const {
  inner_.Apply(x, &ws->inner, &ws->gemm);
  outer_.Apply(ws->inner.view(), &ws->sublayer, &ws->gemm);
  norm_.Apply(ws->sublayer.view(), x, ws);
}

absl::StatusOr<AttentionWeights> ReadAttentionWeights(const Checkpoint& checkpoint,
                                                      const std::string& prefix, int d_model,
                                                      int heads) {
  AttentionWeights weights;
  ASSIGN_OR_RETURN(weights.q, ReadWeight(checkpoint, prefix + ".q_proj", d_model, d_model));
  ASSIGN_OR_RETURN(weights.k, ReadWeight(checkpoint, prefix + ".k_proj", d_model, d_model));
  ASSIGN_OR_RETURN(weights.v, ReadWeight(checkpoint, prefix + ".v_proj", d_model, d_model));
  Scale(1.0f / std::sqrt(static_cast<float>(d_model / heads)), &weights.q);
  for (Weight* weight : {&weights.q, &weights.k, &weights.v}) InterleaveOutputs(heads, weight);
  return weights;
}

absl::StatusOr<Linear> ReadOutProjection(const Checkpoint& checkpoint, const std::string& prefix,
                                         int d_model, int heads, Precision precision) {
  ASSIGN_OR_RETURN(Weight weight, ReadWeight(checkpoint, prefix + ".out_proj", d_model, d_model));
  InterleaveInputs(heads, &weight);
  return Linear::Create(weight, Activation::kNone, precision);
}

EmbeddingTable::EmbeddingTable(int vocabulary, int d_model, bool bfloat16) {
  if (bfloat16) {
    bfloat16_.Resize(vocabulary, d_model);
  } else {
    float32_.Resize(vocabulary, d_model);
  }
}

void EmbeddingTable::Set(int first, MatrixView<const float> embeddings) {
  DRAGOMAN_CHECK(first + embeddings.rows() <= vocabulary());
  if (bfloat16_.rows() > 0) {
    return ToBFloat16(embeddings, bfloat16_.view().Rows(first, embeddings.rows()));
  }
  for (int r = 0; r < embeddings.rows(); ++r) {
    std::copy_n(embeddings.Row(r).data(), embeddings.cols(), float32_.Row(first + r).data());
  }
}

void EmbeddingTable::AddTo(int32_t token, float scale, absl::Span<float> out) const {
  if (bfloat16_.rows() == 0) {
    const absl::Span<const float> row = float32_.Row(token);
    for (size_t i = 0; i < out.size(); ++i) out[i] += scale * row[i];
    return;
  }
  const absl::Span<const uint16_t> row = bfloat16_.Row(token);
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] += scale * std::bit_cast<float>(static_cast<uint32_t>(row[i]) << 16);
  }
}

absl::StatusOr<Embedding> Embedding::Create(const Checkpoint& checkpoint, const std::string& prefix,
                                            std::shared_ptr<const EmbeddingTable> table,
                                            const ModelSpec& config) {
  Embedding embedding;
  embedding.table_ = std::move(table);
  const int d_model = config.d_model;
  embedding.scale_ = config.embedding_scale;
  const std::string learned = prefix + ".embed_positions.weight";
  if (checkpoint.Has(learned)) {
    ASSIGN_OR_RETURN(embedding.positions_,
                     checkpoint.ReadMatrix(learned, config.max_positions, d_model));
    return embedding;
  }
  embedding.positions_.Resize(config.max_positions, d_model);
  for (int p = 0; p < config.max_positions; ++p) {
    const absl::Span<float> row = embedding.positions_.Row(p);
    for (int i = 0; i < d_model / 2; ++i) {
      const double angle = p * std::pow(10000.0, -2.0 * i / d_model);
      row[i] = static_cast<float>(std::sin(angle));
      row[d_model / 2 + i] = static_cast<float>(std::cos(angle));
    }
  }
  return embedding;
}

void Embedding::Embed(int32_t token, int position, absl::Span<float> row) const {
  const absl::Span<const float> where = positions_.Row(position);
  std::copy(where.begin(), where.end(), row.begin());
  table_->AddTo(token, scale_, row);
}

}  // namespace dragoman
