// The embeddings of all tokens.
//
// A table is stored in float32 or, if matrices are multiplied in less, in bfloat16. An embedding is
// read once per token, which takes negligible time compared with the layers that follow.  But a
// large table takes memory: NLLB's 256,206 embeddings of 1,024 numbers would take 525 MB in
// bfloat16, beside an int8 model of 615 MB whose output projection holds the same numbers.  So a
// large table is read back from the output projection if the two are tied; if an int8 model has a
// separate table, that is stored in 8 bits with a scale for each token.

#ifndef DRAGOMAN_ENGINE_MODEL_EMBEDDING_TABLE_H_
#define DRAGOMAN_ENGINE_MODEL_EMBEDDING_TABLE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/base/packed_file.h"
#include "engine/math/bfloat16.h"
#include "engine/math/int8_rows.h"
#include "engine/math/matrix.h"
#include "engine/math/precision.h"
#include "engine/model/output_projection.h"
#include "engine/spec/config.h"

namespace dragoman {

// Whether a table is too large to be stored a second time beside the output projection.
bool IsLargeTable(int vocabulary, int d_model, const NetworkOptions& options);
// The precision of a table that is stored separately: the copy of a tied one, or one of its own.
Precision TablePrecision(int vocabulary, int d_model, bool copied, const NetworkOptions& options);
// The bytes that a model's tables take in addition to its output projection.
double EmbeddingBytes(const ModelSpec& spec, const NetworkOptions& options);

// Immutable once it is set.  Shared by encoder and decoder if they have one vocabulary.
class EmbeddingTable {
 public:
  // Room for [vocabulary, d_model] numbers of this precision; the content is unspecified until it
  // is Set.
  EmbeddingTable(int vocabulary, int d_model, Precision precision);
  // Reads the embeddings back from `output`, times `factor`.  REQUIRES: output->readable().
  EmbeddingTable(std::shared_ptr<const OutputProjection> output, float factor);

  // The same as it was stored, with numbers in the file; null if they are not in it.
  static std::shared_ptr<const EmbeddingTable> Restore(
      const std::shared_ptr<const PackedFile>& file, const std::string& name, int vocabulary,
      int d_model, Precision precision);
  // Only numbers of less than 32 bits are stored.
  void Store(const std::string& name, PackedFileWriter* file) const;

  // Sets the embeddings of the tokens first, first + 1, ... Only before the table is shared.
  // INVALID_ARGUMENT if an 8-bit table gets a number that is not finite.  REQUIRES: it stores its
  // own numbers.
  absl::Status Set(int first, MatrixView<const float> embeddings);

  // out[i] += scale * the embedding's element i.  REQUIRES: 0 <= token < vocabulary.
  void AddTo(int32_t token, float scale, absl::Span<float> out) const;

 private:
  EmbeddingTable() = default;

  // One of these holds the numbers; the others are empty.
  Matrix<float> float32_;              // [vocabulary, d_model]
  Matrix<BFloat16> bfloat16_;          // [vocabulary, d_model]
  MatrixView<const BFloat16> stored_;  // [vocabulary, d_model], in file_
  std::shared_ptr<const PackedFile> file_;
  std::optional<Int8Rows> int8_;
  std::shared_ptr<const OutputProjection> output_;
  float factor_ = 1.0f;  // of output_
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_EMBEDDING_TABLE_H_
