// Our kernels and oneDNN compute the same sums of 8-bit products, and return the same bytes.

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/math/gemm.h"
#include "engine/math/int8_crossover.h"
#include "gtest/gtest.h"
#include "tests/math/instruction_sets.h"
#include "tests/math/random_matrix.h"

namespace dragoman::int8_ways_test {
namespace {

// Multiplies the first rows of x by the weight in both ways, for many numbers of rows.
void ExpectSameBytes(const Matrix<float>& weight, absl::Span<const float> bias,
                     Activation activation, const Matrix<float>& x, int threads) {
  const auto native =
      PackedGemm::Create(weight.view(), bias, activation, {Precision::kInt8, Matmul::kNative});
  const auto onednn =
      PackedGemm::Create(weight.view(), bias, activation, {Precision::kInt8, Matmul::kOneDnn});
  ASSERT_TRUE(native.ok()) << native.status();
  ASSERT_TRUE(onednn.ok()) << onednn.status();
  GemmScratch scratch(threads);
  Matrix<float> want(x.rows(), weight.rows()), got(x.rows(), weight.rows());
  for (const int rows : {1, 2, 3, 7, 15, 16, 17, 31, 48, 63, 64, 65, 100, 130}) {
    const MatrixView<const float> top = x.view().Rows(0, rows);
    native->Apply(top, want.view().Rows(0, rows), &scratch);
    onednn->Apply(top, got.view().Rows(0, rows), &scratch);
    for (int r = 0; r < rows; ++r) {
      ASSERT_EQ(std::memcmp(want.Row(r).data(), got.Row(r).data(), sizeof(float) * weight.rows()),
                0)
          << "row " << r << " of " << rows << ", " << weight.cols() << " x " << weight.rows()
          << ", " << threads << " threads";
    }
  }
}

TEST(Int8Ways, GiveTheSameBytes) {
  SKIP_UNLESS_POSSIBLE(Arithmetic(Precision::kInt8, Matmul::kOneDnn));
  std::mt19937 random(21);
  for (const auto& [inputs, outputs] :
       {std::pair(512, 512), {512, 1600}, {2048, 512}, {64, 935}, {4100, 70}, {33, 17}, {1, 1}}) {
    const Matrix<float> weight = RandomMatrix(outputs, inputs, &random);
    const Matrix<float> x = RandomMatrix(130, inputs, &random);
    const std::vector<float> bias = RandomVector(outputs, &random);
    for (const int threads : {1, 3}) {
      ExpectSameBytes(weight, bias, Activation::kRelu, x, threads);
      ExpectSameBytes(weight, bias, Activation::kSilu, x, threads);
    }
  }
}

TEST(Int8Ways, GiveTheSameBytesOnEveryInstructionSet) {
  SKIP_UNLESS_POSSIBLE(Arithmetic(Precision::kInt8, Matmul::kOneDnn));
  std::mt19937 random(22);
  const Matrix<float> weight = RandomMatrix(200, 100, &random);
  const Matrix<float> x = RandomMatrix(130, 100, &random);
  const std::vector<float> bias = RandomVector(200, &random);
  ForEachInstructionSet([&] { ExpectSameBytes(weight, bias, Activation::kRelu, x, 1); });
}

// 255 x 127 + 255 x 127 does not fit in 16 bits, in which some instructions add.
TEST(Int8Ways, GiveTheSameBytesForTheGreatestNumbers) {
  SKIP_UNLESS_POSSIBLE(Arithmetic(Precision::kInt8, Matmul::kOneDnn));
  constexpr int kInputs = 512, kOutputs = 192;
  Matrix<float> weight(kOutputs, kInputs), x(130, kInputs);
  for (int o = 0; o < kOutputs; ++o) {
    std::fill_n(weight.Row(o).data(), kInputs, o % 2 == 0 ? 1.0f : -1.0f);
  }
  for (int r = 0; r < x.rows(); ++r) {
    std::fill_n(x.Row(r).data(), kInputs, 1.0f);
    x.Row(r)[r] = 0.0f;  // so that the others become 255
  }
  ExpectSameBytes(weight, {}, Activation::kNone, x, 1);
}

// Whatever is measured here, the result is a number of rows that a call can have, or kNeverFaster.
TEST(Int8Ways, ChangeOverAtANumberOfRows) {
  const int rows = MeasureOneDnnInt8Crossover();
  if (rows == kNeverFaster) GTEST_SKIP() << "oneDNN (" << OneDnnIsa() << ") is nowhere faster here";
  EXPECT_GE(rows, 1);
  EXPECT_LE(rows, OneDnnMatmul::kMaxRows);
}

}  // namespace
}  // namespace dragoman::int8_ways_test
