// The law on which determinism, continuous batching and routing among workers rest: row i of any
// output depends on row i of the input alone, bit for bit.  Every operation is run on many rows at
// once and on each row alone, over row counts and positions, and the bytes are compared.

#include <cstring>
#include <functional>

#include "engine/math/gemm.h"
#include "engine/math/int8_rows.h"
#include "engine/math/kernels.h"
#include "gtest/gtest.h"
#include "tests/math/random_matrix.h"

namespace dragoman {
namespace {

using Operation = std::function<void(MatrixView<const float> x, MatrixView<float> y)>;

// Runs `operation` on every row of `x` alone, then on blocks of every number of rows at several
// places, and expects the same bytes.
void ExpectRowLaw(const Matrix<float>& x, int outputs, const Operation& operation) {
  Matrix<float> alone(x.rows(), outputs), together(x.rows(), outputs);
  for (int r = 0; r < x.rows(); ++r) {
    operation(x.view().Rows(r, 1), alone.view().Rows(r, 1));
  }
  for (int rows = 2; rows <= x.rows(); rows += rows < 20 ? 1 : 7) {
    for (const int first : {0, 1, (x.rows() - rows) / 2, x.rows() - rows}) {
      if (first + rows > x.rows()) continue;
      operation(x.view().Rows(first, rows), together.view().Rows(0, rows));
      for (int r = 0; r < rows; ++r) {
        ASSERT_EQ(std::memcmp(alone.Row(first + r).data(), together.Row(r).data(),
                              sizeof(float) * outputs),
                  0)
            << "row " << first + r << " among " << rows << " from " << first;
      }
    }
  }
}

class RowLawOf : public testing::TestWithParam<Precision> {};

TEST_P(RowLawOf, Gemm) {
  std::mt19937 random(11);
  const std::pair<int, int> shapes[] = {{64, 64},   {64, 192},   {128, 64},   {256, 768},
                                        {512, 512}, {512, 2048}, {2048, 512}, {64, 935}};
  for (const auto& [inputs, outputs] : shapes) {
    SCOPED_TRACE(testing::Message() << inputs << " x " << outputs);
    const Matrix<float> weight = RandomMatrix(outputs, inputs, &random);
    const std::vector<float> bias = RandomVector(outputs, &random);
    for (const Activation activation : {Activation::kRelu, Activation::kSilu}) {
      const auto gemm = PackedGemm::Create(weight.view(), bias, activation, GetParam());
      ASSERT_TRUE(gemm.ok()) << gemm.status();
      GemmScratch scratch;
      ExpectRowLaw(
          RandomMatrix(2 * OneDnnGemm::kMaxRows + 5, inputs, &random), outputs,
          [&](MatrixView<const float> x, MatrixView<float> y) { gemm->Apply(x, y, &scratch); });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(RowLaw, RowLawOf,
                         testing::Values(Precision::kFloat32, Precision::kBFloat16,
                                         Precision::kInt8),
                         [](const auto& test) { return std::string(NameOf(test.param)); });

TEST(RowLaw, Int8Rows) {
  std::mt19937 random(14);
  for (const auto& [inputs, outputs] : {std::pair(512, 300), {33, 17}}) {
    const Matrix<float> weight = RandomMatrix(outputs, inputs, &random);
    const auto selective = Int8Rows::Create(weight.view(), RandomVector(outputs, &random));
    ASSERT_TRUE(selective.ok()) << selective.status();
    const std::vector<int32_t> named = {0, 16, 3, 5, 4, 11};
    QuantizedRows quantized;
    ExpectRowLaw(RandomMatrix(40, inputs, &random), static_cast<int>(named.size()),
                 [&](MatrixView<const float> x, MatrixView<float> y) {
                   QuantizeRows(x, &quantized);
                   selective->Apply(quantized, named, y);
                 });
  }
}

TEST(RowLaw, AddAndNorm) {
  std::mt19937 random(12);
  for (const int cols : {64, 100, 512}) {
    const std::vector<float> gain = RandomVector(cols, &random), bias = RandomVector(cols, &random);
    ExpectRowLaw(RandomMatrix(40, cols, &random), cols,
                 [&](MatrixView<const float> x, MatrixView<float> y) {
                   AddAndNorm(x, x, gain, bias, 1e-5f, y);
                 });
  }
}

// A query's attention must not depend on where in memory the rows lie that it attends to.
TEST(RowLaw, AttendDoesNotSeeWhereItsPositionsLie) {
  std::mt19937 random(13);
  constexpr int kHeads = 4, kModel = 64;
  for (int length = 1; length <= 40; ++length) {
    const std::vector<float> q = RandomVector(kModel, &random, 0.3f);
    const Matrix<float> keys = RandomMatrix(length, kModel, &random);
    Matrix<float> scattered = RandomMatrix(3 * length + 2, kModel, &random);
    std::vector<int32_t> in_order(length), elsewhere(length);
    for (int j = 0; j < length; ++j) {
      in_order[j] = j;
      elsewhere[j] = 3 * (length - 1 - j) + 2;
      std::memcpy(scattered.Row(elsewhere[j]).data(), keys.Row(j).data(), sizeof(float) * kModel);
    }
    std::vector<float> scratch(AttendScratch(kHeads, length)), a(kModel), b(kModel);
    const MatrixView<const float> near = keys.view(), far = scattered.view();
    Attend(kHeads, q, near, near, in_order, absl::MakeSpan(scratch), absl::MakeSpan(a));
    Attend(kHeads, q, far, far, elsewhere, absl::MakeSpan(scratch), absl::MakeSpan(b));
    ASSERT_EQ(std::memcmp(a.data(), b.data(), sizeof(float) * kModel), 0) << length;
  }
}

}  // namespace
}  // namespace dragoman
