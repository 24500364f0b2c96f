#include "engine/model/layers.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/math/kernels.h"

namespace dragoman {
namespace {

constexpr int kLeastRows = 8;  // that are worth the norm of another thread

// Row p is the position positions.first + p.
Matrix<float> Sinusoids(const Positions& positions, int rows, int d_model) {
  const int half = d_model / 2;
  Matrix<float> table(rows, d_model);
  for (int r = 0; r < rows; ++r) {
    const absl::Span<float> row = table.Row(r);
    for (int i = 0; i < half; ++i) {
      const double steps = positions.to_the_end ? std::max(1, half - 1) : half;
      const double angle = (positions.first + r) * std::pow(10000.0, -i / steps);
      const bool interleaved = positions.kind == Positions::kInterleaved;
      row[interleaved ? 2 * i : i] = static_cast<float>(std::sin(angle));
      row[interleaved ? 2 * i + 1 : half + i] = static_cast<float>(std::cos(angle));
    }
  }
  return table;
}

}  // namespace

absl::StatusOr<Normalization> Normalization::Create(const Checkpoint& checkpoint,
                                                    const std::string& prefix,
                                                    const ModelSpec& spec) {
  Normalization norm;
  norm.norm_ = spec.norm;
  norm.epsilon_ = spec.norm_epsilon;
  ASSIGN_OR_RETURN(norm.gain_, checkpoint.ReadVector(prefix + ".weight", spec.d_model));
  if (spec.norm == Norm::kLayer) {
    ASSIGN_OR_RETURN(norm.bias_, checkpoint.ReadVector(prefix + ".bias", spec.d_model));
  }
  return norm;
}

void Normalization::Apply(MatrixView<const float> x, MatrixView<float> out, Workspace* ws) const {
  ws->team().Split(x.rows(), kLeastRows, [&](int, int first, int end) {
    const MatrixView<const float> from = x.Rows(first, end - first);
    const MatrixView<float> to = out.Rows(first, end - first);
    if (norm_ == Norm::kLayer) {
      LayerNorm(from, gain_, bias_, epsilon_, to);
    } else {
      RootMeanSquareNorm(from, gain_, epsilon_, to);
    }
  });
}

void Normalization::AddAndApply(MatrixView<const float> y, MatrixView<float> x,
                                Workspace* ws) const {
  ws->team().Split(x.rows(), kLeastRows, [&](int, int first, int end) {
    const MatrixView<float> rows = x.Rows(first, end - first);
    const MatrixView<const float> addend = y.Rows(first, end - first);
    if (norm_ == Norm::kLayer) return AddAndNorm(rows, addend, gain_, bias_, epsilon_, rows);
    Add(addend, rows);
    RootMeanSquareNorm(rows, gain_, epsilon_, rows);
  });
}

absl::StatusOr<Residual> Residual::Create(const Checkpoint& checkpoint, const std::string& prefix,
                                          const ModelSpec& spec) {
  Residual residual;
  residual.before_ = spec.pre_norm;
  ASSIGN_OR_RETURN(residual.norm_, Normalization::Create(checkpoint, prefix, spec));
  return residual;
}

MatrixView<const float> Residual::Enter(MatrixView<const float> x, Workspace* ws) const {
  if (!before_) return x;
  ws->normed.Resize(x.rows(), x.cols());
  norm_.Apply(x, ws->normed.view(), ws);
  return ws->normed.view();
}

void Residual::Leave(MatrixView<const float> y, MatrixView<float> x, Workspace* ws) const {
  if (!before_) return norm_.AddAndApply(y, x, ws);
  ws->team().Split(x.rows(), kLeastRows, [&](int, int first, int end) {
    Add(y.Rows(first, end - first), x.Rows(first, end - first));
  });
}

absl::StatusOr<FeedForward> FeedForward::Create(const Checkpoint& checkpoint,
                                                const std::string& prefix, int inner,
                                                const ModelSpec& spec, Arithmetic arithmetic) {
  const int d_model = spec.d_model;
  std::vector<Weight> parts(1);
  ASSIGN_OR_RETURN(parts[0], ReadWeight(checkpoint, prefix + ".fc1", inner, d_model, spec.biases));
  if (spec.gated) {
    ASSIGN_OR_RETURN(parts.emplace_back(),
                     ReadWeight(checkpoint, prefix + ".fc1_linear", inner, d_model, spec.biases));
  }
  const Activation activation = spec.gated ? Activation::kNone : spec.activation;
  const Weight w1 = parts.size() == 1 ? std::move(parts[0]) : Fuse(parts);
  ASSIGN_OR_RETURN(Linear first, Linear::Create(w1, activation, arithmetic));
  ASSIGN_OR_RETURN(const Weight w2,
                   ReadWeight(checkpoint, prefix + ".fc2", d_model, inner, spec.biases));
  ASSIGN_OR_RETURN(Linear second, Linear::Create(w2, Activation::kNone, arithmetic));
  ASSIGN_OR_RETURN(Residual residual,
                   Residual::Create(checkpoint, prefix + ".final_layer_norm", spec));
  FeedForward layer(std::move(first), std::move(second), std::move(residual));
  layer.gated_ = spec.gated;
  layer.activation_ = spec.activation;
  return layer;
}

void FeedForward::Apply(MatrixView<float> x, Workspace* ws) const {
  inner_.Apply(residual_.Enter(x, ws), &ws->inner, &ws->gemm);
  MatrixView<const float> inner = ws->inner.view();
  if (gated_) {
    ws->gated.Resize(x.rows(), inner.cols() / 2);
    ws->team().Split(x.rows(), kLeastRows, [&](int, int first, int end) {
      ActivateAndGate(activation_, inner.Rows(first, end - first),
                      ws->gated.view().Rows(first, end - first));
    });
    inner = ws->gated.view();
  }
  outer_.Apply(inner, &ws->sublayer, &ws->gemm);
  residual_.Leave(ws->sublayer.view(), x, ws);
}

absl::StatusOr<AttentionWeights> ReadAttentionWeights(const Checkpoint& checkpoint,
                                                      const std::string& prefix, HeadShape heads,
                                                      const ModelSpec& spec) {
  AttentionWeights weights;
  for (const auto& [name, weight] :
       {std::pair(".q_proj", &weights.q), {".k_proj", &weights.k}, {".v_proj", &weights.v}}) {
    ASSIGN_OR_RETURN(
        *weight, ReadWeight(checkpoint, prefix + name, heads.width(), spec.d_model, spec.biases));
    if (weight == &weights.q && spec.scaled_queries) {
      Scale(1.0f / std::sqrt(static_cast<float>(heads.head_width)), weight);
    }
    InterleaveOutputs(heads.heads, weight);
  }
  return weights;
}

absl::StatusOr<Linear> ReadOutProjection(const Checkpoint& checkpoint, const std::string& prefix,
                                         HeadShape heads, const ModelSpec& spec,
                                         Arithmetic arithmetic) {
  ASSIGN_OR_RETURN(Weight weight, ReadWeight(checkpoint, prefix + ".out_proj", spec.d_model,
                                             heads.width(), spec.biases));
  InterleaveInputs(heads.heads, &weight);
  return Linear::Create(weight, Activation::kNone, arithmetic);
}

absl::StatusOr<Embedding> Embedding::Create(const Checkpoint& checkpoint, const std::string& prefix,
                                            std::shared_ptr<const EmbeddingTable> table,
                                            const ModelSpec& spec) {
  Embedding embedding;
  embedding.table_ = std::move(table);
  embedding.scale_ = spec.embedding_scale;
  if (spec.embedding_norm) {
    ASSIGN_OR_RETURN(embedding.norm_,
                     Normalization::Create(checkpoint, prefix + ".layernorm_embedding", spec));
  }
  const Positions& positions = spec.positions;
  const std::string stored = prefix + ".embed_positions.weight";
  if (positions.kind == Positions::kTable || checkpoint.Has(stored)) {
    const int rows = positions.first + spec.max_positions;
    RETURN_IF_ERROR(checkpoint.CheckMatrix(stored, rows, spec.d_model));
    ASSIGN_OR_RETURN(embedding.positions_,
                     checkpoint.ReadRows(stored, rows, spec.d_model, positions.first, rows));
  } else if (positions.kind == Positions::kSinusoids || positions.kind == Positions::kInterleaved) {
    embedding.positions_ = Sinusoids(positions, spec.max_positions, spec.d_model);
  }
  return embedding;
}

void Embedding::Embed(int32_t token, int position, absl::Span<float> row) const {
  EmbedPosition(position, row);
  table_->AddTo(token, scale_, row);
}

void Embedding::EmbedPosition(int position, absl::Span<float> row) const {
  if (positions_.rows() == 0) {
    std::fill(row.begin(), row.end(), 0.0f);
    return;
  }
  const absl::Span<const float> where = positions_.Row(position);
  std::copy(where.begin(), where.end(), row.begin());
}

void Embedding::Finish(MatrixView<float> x, Workspace* ws) const {
  if (norm_.has_value()) norm_->Apply(x, x, ws);
}

}  // namespace dragoman
