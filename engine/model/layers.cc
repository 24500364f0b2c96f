#include "engine/model/layers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "absl/base/const_init.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "engine/base/elementary.h"
#include "engine/math/kernels.h"

namespace dragoman {
namespace {

// Row p is position positions.first + p.
Matrix<float> Sinusoids(const Positions& positions, int rows, int d_model) {
  const int half = d_model / 2;
  const double steps = positions.to_the_end ? std::max(1, half - 1) : half;
  std::vector<double> frequencies;
  for (int i = 0; i < half; ++i) frequencies.push_back(PowOf(10000.0, -i / steps));
  Matrix<float> table(rows, d_model);
  for (int r = 0; r < rows; ++r) {
    const absl::Span<float> row = table.Row(r);
    for (int i = 0; i < half; ++i) {
      const double angle = (positions.first + r) * frequencies[i];
      const bool interleaved = positions.kind == Positions::kInterleaved;
      row[interleaved ? 2 * i : i] = static_cast<float>(SinOf(angle));
      row[interleaved ? 2 * i + 1 : half + i] = static_cast<float>(CosOf(angle));
    }
  }
  return table;
}

// The table of those that have it already: most models of a server have the same.
std::shared_ptr<const Matrix<float>> SharedSinusoids(const Positions& positions, int rows,
                                                     int d_model) {
  using Key = std::tuple<Positions::Kind, int, bool, int, int>;
  static absl::Mutex mutex(absl::kConstInit);
  static auto& tables = *new std::map<Key, std::weak_ptr<const Matrix<float>>>();
  const Key key(positions.kind, positions.first, positions.to_the_end, rows, d_model);
  absl::MutexLock lock(&mutex);
  if (auto table = tables[key].lock(); table != nullptr) return table;
  std::erase_if(tables, [](const auto& entry) { return entry.second.expired(); });
  auto table = std::make_shared<const Matrix<float>>(Sinusoids(positions, rows, d_model));
  tables[key] = table;
  return table;
}

Weight Identity(int d_model) {
  Weight identity;
  identity.outputs = identity.inputs = d_model;
  identity.w = [d_model]() -> absl::StatusOr<Matrix<float>> {
    Matrix<float> w(d_model, d_model);
    for (int i = 0; i < d_model; ++i) {
      for (int j = 0; j < d_model; ++j) w.Row(i)[j] = i == j ? 1.0f : 0.0f;
    }
    return w;
  };
  return identity;
}

}  // namespace

absl::StatusOr<FeedForward> FeedForward::Create(const Checkpoint& checkpoint,
                                                const std::string& prefix, Shape shape,
                                                const ModelSpec& spec, Arithmetic arithmetic) {
  const Activation activation = spec.gated ? Activation::kNone : spec.activation;
  int width = spec.d_model;  // of the next layer's input
  std::vector<Linear> inner;
  for (int layer = 1; layer < shape.layers; ++layer) {
    const std::string name = layer == 1 ? prefix + ".fc1" : absl::StrCat(prefix, ".fc1_", layer);
    std::vector<Weight> parts(1);
    ASSIGN_OR_RETURN(parts[0], ReadWeight(checkpoint, name, shape.inner, width, spec.biases));
    if (spec.gated) {
      ASSIGN_OR_RETURN(parts.emplace_back(),
                       ReadWeight(checkpoint, name + "_linear", shape.inner, width, spec.biases));
    }
    const Weight w = parts.size() == 1 ? std::move(parts[0]) : Fuse(parts);
    ASSIGN_OR_RETURN(Linear linear, Linear::Create(w, activation, arithmetic));
    inner.push_back(std::move(linear));
    width = shape.inner;
  }
  ASSIGN_OR_RETURN(const Weight w2,
                   ReadWeight(checkpoint, prefix + ".fc2", spec.d_model, width, spec.biases));
  ASSIGN_OR_RETURN(Linear outer, Linear::Create(w2, Activation::kNone, arithmetic));
  ASSIGN_OR_RETURN(Residual residual,
                   Residual::Create(checkpoint, prefix + ".final", spec, arithmetic));
  FeedForward layer(std::move(outer), std::move(residual));
  layer.inner_ = std::move(inner);
  layer.gated_ = spec.gated;
  layer.activation_ = spec.activation;
  return layer;
}

void FeedForward::Apply(MatrixView<float> x, Workspace* ws) const {
  MatrixView<const float> inner = residual_.Enter(x, ws);
  for (const Linear& linear : inner_) {
    if (inner.data() == ws->inner.view().data()) std::swap(ws->inner, ws->gated);
    linear.Apply(inner, &ws->inner, &ws->gemm);
    inner = ws->inner.view();
    if (!gated_) continue;
    ws->gated.Resize(x.rows(), inner.cols() / 2);
    ws->team().Split(x.rows(), Workspace::kLeastRows, [&](int, int first, int end) {
      ActivateAndGate(activation_, inner.Rows(first, end - first),
                      ws->gated.view().Rows(first, end - first));
    });
    inner = ws->gated.view();
  }
  outer_.Apply(inner, &ws->sublayer, &ws->gemm);
  residual_.Leave(ws->sublayer.view(), x, ws);
}

absl::StatusOr<std::vector<Weight>> ReadAttentionWeights(const Checkpoint& checkpoint,
                                                         const std::string& prefix, HeadShape heads,
                                                         const ModelSpec& spec) {
  std::vector<Weight> weights;
  for (const char* const name : {".q_proj", ".k_proj", ".v_proj"}) {
    ASSIGN_OR_RETURN(Weight weight, ReadWeight(checkpoint, prefix + name, heads.width(),
                                               spec.d_model, spec.biases));
    if (weights.empty() && spec.scaled_queries) {
      Scale(1.0f / std::sqrt(static_cast<float>(heads.head_width)), &weight);
    }
    InterleaveOutputs(heads.heads, &weight);
    weights.push_back(std::move(weight));
  }
  return weights;
}

absl::StatusOr<Linear> ReadOutProjection(const Checkpoint& checkpoint, const std::string& prefix,
                                         HeadShape heads, const ModelSpec& spec,
                                         Arithmetic arithmetic) {
  Weight weight;
  if (spec.attention_output) {
    ASSIGN_OR_RETURN(weight, ReadWeight(checkpoint, prefix + ".out_proj", spec.d_model,
                                        heads.width(), spec.biases));
  } else {
    weight = Identity(spec.d_model);
  }
  InterleaveInputs(heads.heads, &weight);
  return Linear::Create(weight, Activation::kNone, arithmetic);
}

absl::StatusOr<SelfAttentionLayer> SelfAttentionLayer::Create(const Checkpoint& checkpoint,
                                                              const std::string& prefix,
                                                              HeadShape heads,
                                                              const ModelSpec& spec,
                                                              Arithmetic arithmetic) {
  ASSIGN_OR_RETURN(const std::vector<Weight> parts,
                   ReadAttentionWeights(checkpoint, prefix, heads, spec));
  ASSIGN_OR_RETURN(Linear qkv, Linear::Create(Fuse(parts), Activation::kNone, arithmetic));
  ASSIGN_OR_RETURN(Linear out, ReadOutProjection(checkpoint, prefix, heads, spec, arithmetic));
  ASSIGN_OR_RETURN(Residual residual, Residual::Create(checkpoint, prefix, spec, arithmetic));
  return SelfAttentionLayer{std::move(qkv), std::move(out), std::move(residual)};
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
    ASSIGN_OR_RETURN(Matrix<float> read,
                     checkpoint.ReadRows(stored, rows, spec.d_model, positions.first, rows));
    embedding.positions_ = std::make_shared<const Matrix<float>>(std::move(read));
  } else if (positions.kind == Positions::kSinusoids || positions.kind == Positions::kInterleaved) {
    embedding.positions_ = SharedSinusoids(positions, spec.max_positions, spec.d_model);
  }
  return embedding;
}

void Embedding::Embed(int32_t token, int position, absl::Span<float> row) const {
  EmbedPosition(position, row);
  table_->AddTo(token, scale_, row);
}

void Embedding::EmbedPosition(int position, absl::Span<float> row) const {
  if (positions_ == nullptr) {
    std::fill(row.begin(), row.end(), 0.0f);
    return;
  }
  const absl::Span<const float> where = positions_->Row(position);
  std::copy(where.begin(), where.end(), row.begin());
}

void Embedding::Finish(MatrixView<float> x, Workspace* ws) const {
  if (norm_.has_value()) norm_->Apply(x, x, ws);
}

}  // namespace dragoman
