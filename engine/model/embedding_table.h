// The embedding of every token.
//
// A table takes float32 or, where matrices are multiplied in less, bfloat16: an embedding is read
// once for a token, and costs nothing beside the layers that follow.  But a large table costs
// memory.  NLLB's 256,206 embeddings of 1,024 numbers would take 525 MB in bfloat16, beside an int8
// model of 615 MB whose output projection holds the same numbers.  So a large table is read back
// from the output projection if the two are tied; and if it is alone in an int8 model, it is
// kept in 8 bits, with a scale for each token.

#ifndef DRAGOMAN_ENGINE_MODEL_EMBEDDING_TABLE_H_
#define DRAGOMAN_ENGINE_MODEL_EMBEDDING_TABLE_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/math/int8_rows.h"
#include "engine/math/matrix.h"
#include "engine/math/precision.h"
#include "engine/model/output_projection.h"
#include "engine/spec/config.h"

namespace dragoman {

// Whether a table is too large to have a copy of its own beside the output projection.
bool IsLargeTable(int vocabulary, int d_model, const NetworkOptions& options);
// In which numbers a table is kept that has its own.
Precision TablePrecision(int vocabulary, int d_model, const NetworkOptions& options);
// The bytes that the tables of a model take beside its output projection.
double EmbeddingBytes(const ModelSpec& spec, const NetworkOptions& options);

// Immutable once it is set; shared by encoder and decoder where they have one vocabulary.
class EmbeddingTable {
 public:
  // Room for [vocabulary, d_model] numbers of this precision; the content is unspecified until it
  // is Set.
  EmbeddingTable(int vocabulary, int d_model, Precision precision);
  // The embeddings that `output` was given, times `factor`.  REQUIRES: output->readable().
  EmbeddingTable(std::shared_ptr<const OutputProjection> output, float factor);

  // The embeddings of the tokens first, first + 1, ...: only before the table is shared.
  // INVALID_ARGUMENT if 8 bits meet a number that is not finite.  REQUIRES: it has its own numbers.
  absl::Status Set(int first, MatrixView<const float> embeddings);

  // out[i] += scale * the embedding's element i.  REQUIRES: 0 <= token < vocabulary.
  void AddTo(int32_t token, float scale, absl::Span<float> out) const;

 private:
  // Where the numbers are; the others have nothing.
  Matrix<float> float32_;      // [vocabulary, d_model]
  Matrix<uint16_t> bfloat16_;  // [vocabulary, d_model]
  std::optional<Int8Rows> int8_;
  std::shared_ptr<const OutputProjection> output_;
  float factor_ = 1.0f;  // of output_
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_EMBEDDING_TABLE_H_
