#include "engine/model/embedding_table.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/math/random_matrix.h"

namespace dragoman::embedding_table_test {
namespace {

constexpr int kVocabulary = 700, kModel = 72;

std::vector<float> Embedding(const EmbeddingTable& table, int32_t token, float scale) {
  std::vector<float> row(kModel, 1.0f);
  table.AddTo(token, scale, absl::MakeSpan(row));
  for (float& value : row) value -= 1.0f;
  return row;
}

// Half a quantization step of a row in 8 bits.
float Step(absl::Span<const float> row) {
  float greatest = 0.0f;
  for (const float value : row) greatest = std::max(greatest, std::abs(value));
  return greatest / 127.0f / 2.0f;
}

// Rounds as ToBFloat16 does, to eight significant bits.
float BFloat16Error(float value) { return std::abs(value) / 256.0f; }

void ExpectRows(const EmbeddingTable& table, const Matrix<float>& want, Precision precision) {
  for (const int32_t token : {0, 1, 63, 64, 511, 512, kVocabulary - 1}) {
    const std::vector<float> have = Embedding(table, token, 2.0f);
    for (int i = 0; i < kModel; ++i) {
      float tolerance = 2e-6f;
      if (precision == Precision::kInt8) tolerance += 2.0f * Step(want.Row(token));
      if (precision == Precision::kBFloat16) tolerance += 2.0f * BFloat16Error(want.Row(token)[i]);
      ASSERT_NEAR(have[i], 2.0f * want.Row(token)[i], tolerance) << token << ", " << i;
    }
  }
}

Matrix<float> RandomTable() {
  std::mt19937 random(7);
  return RandomMatrix(kVocabulary, kModel, &random);
}

TEST(EmbeddingTable, OfItsOwnKeepsWhatItsPrecisionCan) {
  const Matrix<float> embeddings = RandomTable();
  for (const Precision precision : {Precision::kFloat32, Precision::kInt8}) {
    EmbeddingTable table(kVocabulary, kModel, precision);
    const int first = 300;
    ASSERT_TRUE(table.Set(0, embeddings.view().Rows(0, first)).ok());
    ASSERT_TRUE(table.Set(first, embeddings.view().Rows(first, kVocabulary - first)).ok());
    ExpectRows(table, embeddings, precision);
  }
}

TEST(EmbeddingTable, OfTheOutputProjectionReadsWhatThatWasGiven) {
  const Matrix<float> embeddings = RandomTable();
  for (const Precision precision : {Precision::kFloat32, Precision::kInt8}) {
    for (const bool selective : {false, true}) {
      SCOPED_TRACE(testing::Message() << NameOf(precision) << " selective " << selective);
      const auto output = std::make_shared<OutputProjection>(
          kVocabulary, kModel, Arithmetic{precision, Matmul::kNative}, selective);
      ASSERT_TRUE(output->Append(embeddings.view(), std::vector<float>(kVocabulary, 3.0f)).ok());
      ASSERT_TRUE(output->readable());
      ExpectRows(EmbeddingTable(output, 1.0f), embeddings, precision);
    }
  }
}

// Reads the table from oneDNN's packed blocks: tiles of 512 tokens and a last one of 188.
TEST(EmbeddingTable, ReadsALayoutOfOneDnn) {
  const Matrix<float> embeddings = RandomTable();
  int tried = 0;
  for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16}) {
    const auto output = std::make_shared<OutputProjection>(
        kVocabulary, kModel, Arithmetic{precision, Matmul::kOneDnn}, /*selective=*/false);
    const absl::Status packed =
        output->Append(embeddings.view(), std::vector<float>(kVocabulary, 3.0f));
    if (!packed.ok()) continue;  // this CPU has no fast kernel, or none that obeys the row law
    ++tried;
    ASSERT_TRUE(output->readable());
    ExpectRows(EmbeddingTable(output, 1.0f), embeddings, precision);
  }
  if (tried == 0) GTEST_SKIP() << "oneDNN multiplies neither float32 nor bfloat16 here";
}

TEST(EmbeddingTable, UndoesAScaleOfTheOutputProjection) {
  Matrix<float> embeddings = RandomTable(), scaled = RandomTable();
  for (int r = 0; r < kVocabulary; ++r) {
    for (float& value : scaled.Row(r)) value *= 0.25f;
  }
  const auto output = std::make_shared<OutputProjection>(
      kVocabulary, kModel, Arithmetic{Precision::kInt8, Matmul::kNative}, /*selective=*/false);
  ASSERT_TRUE(output->Append(scaled.view(), std::vector<float>(kVocabulary, 0.0f)).ok());
  ExpectRows(EmbeddingTable(output, 4.0f), embeddings, Precision::kInt8);
}

}  // namespace
}  // namespace dragoman::embedding_table_test
