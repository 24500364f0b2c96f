// The row law, on which determinism, continuous batching and routing among workers rest: row i of
// any output depends on row i of the input alone, bit for bit.  Every operation runs on many rows
// at once and on each row alone, with various numbers of rows and positions, and the bytes are
// compared.

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <utility>

#include "engine/math/attend.h"
#include "engine/math/gemm.h"
#include "engine/math/int8_rows.h"
#include "engine/math/kernels.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/math/instruction_sets.h"
#include "tests/math/packed_key_values.h"
#include "tests/math/random_matrix.h"

namespace dragoman::row_law_test {
namespace {

using Operation = std::function<void(MatrixView<const float> x, MatrixView<float> y)>;

// Runs `operation` on every row of `x` alone, then on blocks of every number of rows at several
// offsets, and expects the same bytes.
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

class RowLawOf : public testing::TestWithParam<std::pair<Precision, Matmul>> {
 protected:
  static Arithmetic arithmetic() { return {GetParam().first, GetParam().second}; }
};

using Shapes = std::vector<std::pair<int, int>>;

// A product of an odd shape that would break the law may be refused instead, as oneDNN's in
// bfloat16 are on a CPU with AMX.
void ExpectRowLawOfGemm(Arithmetic arithmetic, const Shapes& shapes, int threads,
                        bool may_refuse = false) {
  std::mt19937 random(11);
  GemmScratch scratch(threads);
  for (const auto& [inputs, outputs] : shapes) {
    SCOPED_TRACE(testing::Message() << inputs << " x " << outputs << ", " << threads << " threads");
    const Matrix<float> weight = RandomMatrix(outputs, inputs, &random);
    const std::vector<float> bias = RandomVector(outputs, &random);
    // The activation function works row by row, so the slow one is only tried with small matrices.
    const bool large = inputs * outputs > 512 * 512;
    for (const Activation activation : {Activation::kRelu, Activation::kSilu}) {
      if (large && activation == Activation::kSilu) continue;
      const auto gemm = PackedGemm::Create(weight.view(), bias, activation, arithmetic);
      if (may_refuse && absl::IsFailedPrecondition(gemm.status())) {
        EXPECT_THAT(std::string(gemm.status().message()),
                    testing::HasSubstr("depend on the batch"));
        continue;
      }
      ASSERT_TRUE(gemm.ok()) << gemm.status();
      ExpectRowLaw(
          RandomMatrix((large ? 1 : 2) * OneDnnMatmul::kMaxRows + 5, inputs, &random), outputs,
          [&](MatrixView<const float> x, MatrixView<float> y) { gemm->Apply(x, y, &scratch); });
    }
  }
}

TEST_P(RowLawOf, Gemm) {
  SKIP_UNLESS_POSSIBLE(arithmetic());
  ExpectRowLawOfGemm(arithmetic(),
                     {{64, 64}, {128, 64}, {256, 768}, {512, 512}, {512, 2048}, {2048, 512}}, 1);
}

TEST_P(RowLawOf, GemmOnOtherInstructionSets) {
  if (arithmetic().precision == Precision::kBFloat16) GTEST_SKIP() << "there are none";
  SKIP_UNLESS_POSSIBLE(arithmetic());
  ForEachInstructionSet([] { ExpectRowLawOfGemm(arithmetic(), {{64, 192}, {33, 70}}, 1); });
}

TEST_P(RowLawOf, GemmOfOddShapes) {
  SKIP_UNLESS_POSSIBLE(arithmetic());
  ExpectRowLawOfGemm(arithmetic(), {{1, 1}, {7, 65}, {33, 70}, {1027, 3}}, 1,
                     arithmetic().precision == Precision::kBFloat16);
}

TEST_P(RowLawOf, GemmByATeam) {
  SKIP_UNLESS_POSSIBLE(arithmetic());
  ExpectRowLawOfGemm(arithmetic(), {{64, 935}, {512, 512}}, 3);
}

// A team computes what one thread computes.
TEST_P(RowLawOf, TeamsOfAnySize) {
  SKIP_UNLESS_POSSIBLE(arithmetic());
  std::mt19937 random(15);
  const Matrix<float> weight = RandomMatrix(1100, 512, &random);
  const Matrix<float> x = RandomMatrix(37, 512, &random);
  const auto gemm = PackedGemm::Create(weight.view(), RandomVector(1100, &random),
                                       Activation::kSilu, arithmetic());
  ASSERT_TRUE(gemm.ok()) << gemm.status();
  Matrix<float> alone(37, 1100), together(37, 1100);
  GemmScratch one;
  gemm->Apply(x.view(), alone.view(), &one);
  for (const int threads : {2, 3, 4, 7}) {
    GemmScratch team(threads);
    gemm->Apply(x.view(), together.view(), &team);
    EXPECT_EQ(std::memcmp(alone.view().data(), together.view().data(), sizeof(float) * 37 * 1100),
              0)
        << threads;
  }
}

INSTANTIATE_TEST_SUITE_P(RowLaw, RowLawOf,
                         testing::Values(std::pair(Precision::kFloat32, Matmul::kNative),
                                         std::pair(Precision::kFloat32, Matmul::kOneDnn),
                                         std::pair(Precision::kBFloat16, Matmul::kNative),
                                         std::pair(Precision::kBFloat16, Matmul::kOneDnn),
                                         std::pair(Precision::kInt8, Matmul::kNative),
                                         std::pair(Precision::kInt8, Matmul::kOneDnn),
                                         std::pair(Precision::kInt8, Matmul::kAuto)),
                         [](const auto& test) {
                           return std::string(NameOf(test.param.first)) + "_" +
                                  NameOf(test.param.second);
                         });

TEST(RowLaw, Int8Rows) {
  std::mt19937 random(14);
  for (const auto& [inputs, outputs] : {std::pair(512, 300), {33, 17}}) {
    const Matrix<float> weight = RandomMatrix(outputs, inputs, &random);
    Int8Rows selective(outputs, inputs);
    const absl::Status set = selective.Set(0, weight.view(), RandomVector(outputs, &random));
    ASSERT_TRUE(set.ok()) << set;
    const std::vector<int32_t> named = {0, 16, 3, 5, 4, 11};
    QuantizedRows quantized;
    ExpectRowLaw(RandomMatrix(40, inputs, &random), static_cast<int>(named.size()),
                 [&](MatrixView<const float> x, MatrixView<float> y) {
                   quantized.Resize(x.rows(), x.cols());
                   QuantizeRows(x, 0, x.rows(), &quantized);
                   selective.Apply(quantized, named, y);
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

TEST(RowLaw, NormsAndActivations) {
  std::mt19937 random(15);
  ForEachInstructionSet([&random] {
    for (const int cols : {64, 100, 511}) {
      const std::vector<float> gain = RandomVector(cols, &random);
      const std::vector<float> bias = RandomVector(cols, &random);
      const Matrix<float> x = RandomMatrix(40, cols, &random);
      ExpectRowLaw(x, cols, [&](MatrixView<const float> rows, MatrixView<float> y) {
        LayerNorm(rows, gain, bias, 1e-5f, y);
      });
      ExpectRowLaw(x, cols, [&](MatrixView<const float> rows, MatrixView<float> y) {
        RootMeanSquareNorm(rows, gain, 1e-6f, y);
      });
      for (const Activation activation : {Activation::kRelu, Activation::kGelu,
                                          Activation::kGeluTanh, Activation::kGeluSigmoid}) {
        ExpectRowLaw(RandomMatrix(40, 2 * cols, &random), cols,
                     [&](MatrixView<const float> rows, MatrixView<float> y) {
                       ActivateAndGate(activation, rows, y);
                     });
      }
    }
  });
}

// The attention of a query must depend neither on where the rows that it attends to lie in memory
// nor on the other queries.
void ExpectRowLawOfAttend(const KeyValueFormat& format) {
  std::mt19937 random(13);
  for (const int length : {1, 2, 3, 4, 5, 7, 8, 9, 30}) {
    SCOPED_TRACE(testing::Message() << NameOf(format.precision) << ", " << format.heads
                                    << " heads, " << length << " positions");
    const Matrix<float> near = RandomMatrix(length, 2 * format.width, &random);
    Matrix<float> far = RandomMatrix(3 * length + 2, 2 * format.width, &random);
    std::vector<int32_t> in_order(length), elsewhere(length);
    for (int j = 0; j < length; ++j) {
      in_order[j] = j;
      elsewhere[j] = 3 * (length - 1 - j) + 2;
      std::copy_n(near.Row(j).data(), near.cols(), far.Row(elsewhere[j]).data());
    }
    const PackedKeyValues near_rows(format, near), far_rows(format, far);
    const std::vector<float> weights(format.heads, 1.0f / static_cast<float>(format.heads));
    bool alone = true;
    ExpectRowLaw(RandomMatrix(9, format.width, &random, 0.3f), format.width,
                 [&](MatrixView<const float> q, MatrixView<float> out) {
                   std::vector<float> scratch(AttendScratch(format.heads, length, q.rows()));
                   alone = !alone;
                   Attend(format, q, alone ? near_rows.Rows(in_order) : far_rows.Rows(elsewhere),
                          absl::MakeSpan(scratch), out);
                 });
    ExpectRowLaw(RandomMatrix(9, format.width, &random, 0.3f), length,
                 [&](MatrixView<const float> q, MatrixView<float> attention) {
                   std::vector<float> scratch(AttendScratch(format.heads, length, q.rows()));
                   Matrix<float> out(q.rows(), q.cols());
                   std::vector<float*> rows;
                   for (int r = 0; r < q.rows(); ++r) rows.push_back(attention.Row(r).data());
                   Attend(format, q, near_rows.Rows(in_order), absl::MakeSpan(scratch), out.view(),
                          {.attention = rows, .head_weights = weights});
                 });
  }
}

// The bias depends on the distance between a query and a position.  A query alone must get what it
// gets among others.
void ExpectRowLawOfBiasedAttend(const KeyValueFormat& format) {
  constexpr int kQueries = 9;
  std::mt19937 random(17);
  for (const int length : {1, 5, 33}) {
    SCOPED_TRACE(testing::Message() << NameOf(format.precision) << ", " << format.heads
                                    << " heads, " << length << " positions");
    const PackedKeyValues packed(format, RandomMatrix(length, 2 * format.width, &random));
    const Matrix<float> q = RandomMatrix(kQueries, format.width, &random, 0.3f);
    std::vector<int32_t> positions(length);
    std::iota(positions.begin(), positions.end(), 0);
    // One row per distance, from -(kQueries - 1) up; the lanes of a row repeat the heads.
    const int bias_width = static_cast<int>(BiasWidth(format.heads));
    Matrix<float> bias(kQueries + length, bias_width);
    for (int r = 0; r < bias.rows(); ++r) {
      const std::vector<float> of_heads = RandomVector(format.heads, &random);
      for (int e = 0; e < bias_width; ++e) bias.Row(r)[e] = of_heads[e % format.heads];
    }
    const auto attend = [&](int first, int count) {
      Matrix<float> out(count, format.width);
      std::vector<float> scratch(AttendScratch(format.heads, length, count));
      Attend(format, q.view().Rows(first, count), packed.Rows(positions), absl::MakeSpan(scratch),
             out.view(), {.bias = bias.Row(kQueries - 1 - first).data()});
      return out;
    };
    const Matrix<float> together = attend(0, kQueries);
    for (int first = 0; first < kQueries; ++first) {
      for (const int count : {1, std::min(3, kQueries - first), kQueries - first}) {
        const Matrix<float> some = attend(first, count);
        for (int r = 0; r < count; ++r) ASSERT_EQ(some.Row(r), together.Row(first + r)) << first;
      }
    }
  }
}

TEST(RowLaw, AttendWithABias) {
  ForEachInstructionSet([] {
    for (const auto& [heads, width] :
         {std::pair(8, 512), {12, 768}, {6, 384}, {32, 512}, {3, 30}}) {
      for (const Precision precision :
           {Precision::kFloat32, Precision::kBFloat16, Precision::kInt8}) {
        ExpectRowLawOfBiasedAttend({precision, heads, width});
      }
    }
  });
}

TEST(RowLaw, Attend) {
  ForEachInstructionSet([] {
    for (const auto& [heads, width] : {std::pair(8, 512), {4, 64}, {12, 768}, {3, 30}}) {
      for (const Precision precision :
           {Precision::kFloat32, Precision::kBFloat16, Precision::kInt8}) {
        ExpectRowLawOfAttend({precision, heads, width});
      }
    }
  });
}

}  // namespace
}  // namespace dragoman::row_law_test
