#include "engine/math/gemm.h"

#include <cmath>
#include <thread>

#include "gtest/gtest.h"
#include "tests/math/random_matrix.h"

namespace dragoman {
namespace {

double Activate(Activation activation, double v) {
  switch (activation) {
    case Activation::kNone:
      return v;
    case Activation::kRelu:
      return v > 0 ? v : 0;
    case Activation::kSilu:
      return v / (1 + std::exp(-v));
    case Activation::kGelu:
      return 0.5 * v * (1 + std::erf(v / std::sqrt(2.0)));
  }
  return v;
}

// activation(x W + b) by the definition, in double.
void ExpectProduct(const Matrix<float>& x, const Matrix<float>& weight,
                   absl::Span<const float> bias, Activation activation, const Matrix<float>& y) {
  for (int r = 0; r < x.rows(); ++r) {
    for (int o = 0; o < weight.rows(); ++o) {
      double sum = bias.empty() ? 0.0 : bias[o];
      for (int i = 0; i < x.cols(); ++i) sum += double{x.Row(r)[i]} * weight.Row(o)[i];
      ASSERT_NEAR(y.Row(r)[o], Activate(activation, sum), 2e-4) << "row " << r << " output " << o;
    }
  }
}

struct Shape {
  int inputs, outputs;
};

class GemmShapes : public testing::TestWithParam<Shape> {};

TEST_P(GemmShapes, AgreesWithTheDefinitionForAnyNumberOfRows) {
  const auto [inputs, outputs] = GetParam();
  std::mt19937 random(7);
  const Matrix<float> weight = RandomMatrix(outputs, inputs, &random);
  const std::vector<float> bias = RandomVector(outputs, &random);
  GemmScratch scratch;
  for (const Activation activation :
       {Activation::kNone, Activation::kRelu, Activation::kSilu, Activation::kGelu}) {
    absl::StatusOr<PackedGemm> gemm = PackedGemm::Create(weight.view(), bias, activation);
    ASSERT_TRUE(gemm.ok()) << gemm.status();
    for (const int rows : {1, 2, 5, 63, 64, 65, 130}) {
      const Matrix<float> x = RandomMatrix(rows, inputs, &random);
      Matrix<float> y(rows, outputs);
      gemm->Apply(x.view(), y.view(), &scratch);
      ExpectProduct(x, weight, bias, activation, y);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Gemm, GemmShapes,
                         testing::Values(Shape{64, 64}, Shape{64, 192}, Shape{128, 64},
                                         Shape{33, 17}, Shape{1, 1}, Shape{64, 935}));

TEST(Gemm, NoBiasIsABiasOfZero) {
  std::mt19937 random(8);
  const Matrix<float> weight = RandomMatrix(20, 30, &random), x = RandomMatrix(3, 30, &random);
  absl::StatusOr<PackedGemm> gemm = PackedGemm::Create(weight.view(), {}, Activation::kNone);
  ASSERT_TRUE(gemm.ok()) << gemm.status();
  Matrix<float> y(3, 20);
  GemmScratch scratch;
  gemm->Apply(x.view(), y.view(), &scratch);
  ExpectProduct(x, weight, {}, Activation::kNone, y);
}

TEST(Gemm, ThreadsShareAWeight) {
  std::mt19937 random(9);
  const Matrix<float> weight = RandomMatrix(256, 64, &random), x = RandomMatrix(40, 64, &random);
  absl::StatusOr<PackedGemm> gemm = PackedGemm::Create(weight.view(), {}, Activation::kRelu);
  ASSERT_TRUE(gemm.ok()) << gemm.status();
  std::vector<Matrix<float>> results(4);
  std::vector<std::thread> threads;
  for (Matrix<float>& y : results) {
    threads.emplace_back([&] {
      GemmScratch scratch;
      y.Resize(40, 256);
      for (int i = 0; i < 50; ++i) gemm->Apply(x.view(), y.view(), &scratch);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Matrix<float>& y : results) ExpectProduct(x, weight, {}, Activation::kRelu, y);
}

}  // namespace
}  // namespace dragoman
