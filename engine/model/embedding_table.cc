#include "engine/model/embedding_table.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/math/kernels.h"

namespace dragoman {
namespace {

size_t SizeOf(Precision precision) {
  if (precision == Precision::kInt8) return sizeof(int8_t);
  return precision == Precision::kBFloat16 ? sizeof(BFloat16) : sizeof(float);
}

double TableBytes(int vocabulary, int d_model, bool copied, const NetworkOptions& options) {
  const Precision precision = TablePrecision(vocabulary, d_model, copied, options);
  return static_cast<double>(SizeOf(precision)) * vocabulary * d_model;
}

size_t UnquantizedBytes(int vocabulary, int d_model, const NetworkOptions& options) {
  const bool float32 = options.arithmetic.precision == Precision::kFloat32;
  return SizeOf(float32 ? Precision::kFloat32 : Precision::kBFloat16) * vocabulary * d_model;
}

}  // namespace

bool IsLargeTable(int vocabulary, int d_model, const NetworkOptions& options) {
  return UnquantizedBytes(vocabulary, d_model, options) > options.large_table;
}

Precision TablePrecision(int vocabulary, int d_model, bool copied, const NetworkOptions& options) {
  const Precision precision = options.arithmetic.precision;
  // A model with a separate table has more weights in total, so its limit is half as large.
  const size_t most = copied ? options.large_table : options.large_table / 2;
  const bool large = UnquantizedBytes(vocabulary, d_model, options) > most;
  return precision == Precision::kInt8 && !large ? Precision::kBFloat16 : precision;
}

double EmbeddingBytes(const ModelSpec& spec, const NetworkOptions& options) {
  double bytes = 0;
  const bool from_output =
      spec.tied_output && IsLargeTable(spec.target_vocabulary, spec.d_model, options);
  if (!from_output) {
    bytes += TableBytes(spec.target_vocabulary, spec.d_model, spec.tied_output, options);
  }
  if (!spec.share_embeddings) {
    bytes += TableBytes(spec.source_vocabulary, spec.d_model, /*copied=*/false, options);
  }
  return bytes;
}

EmbeddingTable::EmbeddingTable(int vocabulary, int d_model, Precision precision) {
  if (precision == Precision::kFloat32) {
    float32_.Resize(vocabulary, d_model);
  } else if (precision == Precision::kInt8) {
    int8_.emplace(vocabulary, d_model);
  } else {
    bfloat16_.Resize(vocabulary, d_model);
  }
}

EmbeddingTable::EmbeddingTable(std::shared_ptr<const OutputProjection> output, float factor)
    : output_(std::move(output)), factor_(factor) {
  DRAGOMAN_CHECK(output_->readable());
}

void EmbeddingTable::Store(const std::string& name, PackedFileWriter* file) const {
  if (int8_.has_value()) return int8_->Store(name, file);
  if (bfloat16_.rows() == 0) return;
  const size_t count = size_t{1} * bfloat16_.rows() * bfloat16_.cols();
  file->Add(name, {BytesOf(absl::MakeConstSpan(bfloat16_.view().data(), count))});
}

std::shared_ptr<const EmbeddingTable> EmbeddingTable::Restore(
    const std::shared_ptr<const PackedFile>& file, const std::string& name, int vocabulary,
    int d_model, Precision precision) {
  std::shared_ptr<EmbeddingTable> table(new EmbeddingTable());
  if (precision == Precision::kInt8) {
    table->int8_ = Int8Rows::Restore(file, name, vocabulary, d_model);
    return table->int8_.has_value() ? table : nullptr;
  }
  const absl::Span<const std::byte> block = file->Find(name);
  if (precision != Precision::kBFloat16 ||
      block.size() != sizeof(BFloat16) * vocabulary * d_model) {
    return nullptr;
  }
  table->file_ = file;
  table->stored_ = MatrixView<const BFloat16>(reinterpret_cast<const BFloat16*>(block.data()),
                                              vocabulary, d_model);
  return table;
}

absl::Status EmbeddingTable::Set(int first, MatrixView<const float> embeddings) {
  if (int8_.has_value()) {
    return int8_->Set(first, embeddings, std::vector<float>(embeddings.rows(), 0.0f));
  }
  if (bfloat16_.rows() > 0) {
    ToBFloat16(embeddings, bfloat16_.view().Rows(first, embeddings.rows()));
    return absl::OkStatus();
  }
  for (int r = 0; r < embeddings.rows(); ++r) {
    std::copy_n(embeddings.Row(r).data(), embeddings.cols(), float32_.Row(first + r).data());
  }
  return absl::OkStatus();
}

void EmbeddingTable::AddTo(int32_t token, float scale, absl::Span<float> out) const {
  if (output_ != nullptr) return output_->AddEmbedding(token, factor_ * scale, out);
  if (int8_.has_value()) return int8_->AddWeights(token, scale, out);
  if (float32_.rows() > 0) {
    const absl::Span<const float> row = float32_.Row(token);
    for (size_t i = 0; i < out.size(); ++i) out[i] += scale * row[i];
    return;
  }
  const absl::Span<const BFloat16> row =
      file_ != nullptr ? stored_.Row(token) : bfloat16_.Row(token);
  for (size_t i = 0; i < out.size(); ++i) out[i] += scale * ToFloat(row[i]);
}

}  // namespace dragoman
