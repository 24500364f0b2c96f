#include "engine/math/gemm.h"

#include <algorithm>
#include <cmath>
#include <thread>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "engine/math/int8_kernels.h"
#include "engine/math/int8_rows.h"
#include "engine/math/kernels.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/math/activation_by_definition.h"
#include "tests/math/instruction_sets.h"
#include "tests/math/random_matrix.h"

namespace dragoman::gemm_test {
namespace {

// Rounds a row to 8 bits: that of a weight symmetrically, that of activations between their least
// and greatest value.
void RoundToInt8(bool is_weight, absl::Span<float> row) {
  const auto [least, greatest] = std::minmax_element(row.begin(), row.end());
  const float low = is_weight ? 0.0f : *least;
  const float range = is_weight ? std::max(-*least, *greatest) : *greatest - *least;
  const float steps = is_weight ? 127.0f : 255.0f;
  for (float& v : row) {
    const long quantized = range > 0.0f ? std::lrint((v - low) * (steps / range)) : 0;
    v = low + static_cast<float>(quantized) * (range / steps);
  }
}

// The rows of `x` rounded to the numbers that the precision multiplies.
Matrix<float> Rounded(Precision precision, bool is_weight, const Matrix<float>& x) {
  Matrix<float> rounded(x.rows(), x.cols());
  Matrix<BFloat16> halves(x.rows(), x.cols());
  ToBFloat16(x.view(), halves.view());
  for (int r = 0; r < x.rows(); ++r) {
    const absl::Span<float> row = rounded.Row(r);
    std::copy(x.Row(r).begin(), x.Row(r).end(), row.begin());
    if (precision == Precision::kInt8) RoundToInt8(is_weight, row);
    for (int c = 0; precision == Precision::kBFloat16 && c < x.cols(); ++c) {
      row[c] = ToFloat(halves.Row(r)[c]);
    }
  }
  return rounded;
}

// x W + b by definition, in double.
struct ExactProduct {
  std::vector<double> sums;   // [rows, outputs]
  std::vector<double> sizes;  // of the magnitudes, to which rounding errors are proportional
};

// With x and W rounded to `precision`.
ExactProduct Multiply(Precision precision, const Matrix<float>& exact_x,
                      const Matrix<float>& exact_weight, absl::Span<const float> bias) {
  const Matrix<float> x = Rounded(precision, /*is_weight=*/false, exact_x);
  const Matrix<float> weight = Rounded(precision, /*is_weight=*/true, exact_weight);
  ExactProduct exact;
  for (int r = 0; r < x.rows(); ++r) {
    for (int o = 0; o < weight.rows(); ++o) {
      double sum = bias.empty() ? 0.0 : bias[o];
      double size = 1.0;
      for (int i = 0; i < x.cols(); ++i) {
        const double product = double{x.Row(r)[i]} * weight.Row(o)[i];
        sum += product;
        size += std::abs(product);
      }
      exact.sums.push_back(sum);
      exact.sizes.push_back(size);
    }
  }
  return exact;
}

// Expects y to be the activation of the rows of a product from `first` on.
void ExpectRows(Precision precision, const ExactProduct& exact, int first, Activation activation,
                const Matrix<float>& y) {
  size_t at = size_t{1} * first * y.cols();
  for (int r = 0; r < y.rows(); ++r) {
    for (int o = 0; o < y.cols(); ++o, ++at) {
      ASSERT_NEAR(y.Row(r)[o], ActivateByDefinition(activation, exact.sums[at]),
                  1e-5 * exact.sizes[at])
          << NameOf(precision) << " row " << r << " output " << o;
    }
  }
}

void ExpectProduct(Precision precision, const Matrix<float>& x, const Matrix<float>& weight,
                   absl::Span<const float> bias, Activation activation, const Matrix<float>& y) {
  ExpectRows(precision, Multiply(precision, x, weight, bias), 0, activation, y);
}

struct Shape {
  int inputs, outputs;
};

class GemmShapes : public testing::TestWithParam<std::tuple<Precision, Matmul, Shape>> {};

// Factors, and their product, which is the same for all activations and instruction sets.
struct Example {
  Example(Precision factors, const Shape& shape) : precision(factors) {
    std::mt19937 random(7);
    weight = RandomMatrix(shape.outputs, shape.inputs, &random);
    bias = RandomVector(shape.outputs, &random);
    x = RandomMatrix(kRows, shape.inputs, &random);
    exact = Multiply(precision, x, weight, bias);
  }

  static constexpr int kRows = 130;
  Precision precision;
  Matrix<float> weight, x;
  std::vector<float> bias;
  ExactProduct exact;
};

void ExpectProducts(const Example& example, Matmul matmul) {
  GemmScratch scratch;
  for (const Activation activation :
       {Activation::kNone, Activation::kRelu, Activation::kSilu, Activation::kGelu,
        Activation::kGeluTanh, Activation::kGeluSigmoid}) {
    absl::StatusOr<PackedGemm> gemm = PackedGemm::Create(example.weight.view(), example.bias,
                                                         activation, {example.precision, matmul});
    ASSERT_TRUE(gemm.ok()) << gemm.status();
    for (const int rows : {1, 2, 5, 12, 13, 63, 64, 65, Example::kRows}) {
      const int first = Example::kRows - rows;
      Matrix<float> y(rows, example.weight.rows());
      gemm->Apply(example.x.view().Rows(first, rows), y.view(), &scratch);
      ExpectRows(example.precision, example.exact, first, activation, y);
    }
  }
}

TEST(Gemm, SaysWhatToDoWithoutAKernel) {
  Matrix<float> weight(1, 4);
  std::fill_n(weight.view().data(), 4, 1.0f);
  const auto refusal = [&](Arithmetic arithmetic) {
    return PackedGemm::Create(weight.view(), {}, Activation::kNone, arithmetic).status();
  };
  if (GemmMatmul(Precision::kBFloat16) == "native") GTEST_SKIP() << "there is a kernel";
  const absl::Status native = refusal({Precision::kBFloat16, Matmul::kNative});
  EXPECT_TRUE(absl::IsFailedPrecondition(native)) << native;
  EXPECT_THAT(std::string(native.message()), testing::HasSubstr("want matmul auto or onednn"));
  const absl::Status bfloat16 = refusal(Precision::kBFloat16);
  if (bfloat16.ok()) GTEST_SKIP() << "this CPU multiplies bfloat16 (" << OneDnnIsa() << ")";
  EXPECT_TRUE(absl::IsFailedPrecondition(bfloat16)) << bfloat16;
  EXPECT_THAT(std::string(bfloat16.message()),
              testing::HasSubstr("want precision float32 or int8"));
}

// As many rows as --max-encode-tokens may allow in one batch, so that rows x tiles exceeds an int.
TEST(Gemm, HasAMillionRows) {
  constexpr int kRows = 1 << 20, kInputs = 4;
  for (const Precision precision : {Precision::kFloat32, Precision::kInt8}) {
    Matrix<float> weight(1, kInputs), x(kRows, kInputs), y(kRows, 1);
    std::fill_n(weight.view().data(), kInputs, 1.0f);
    for (int r = 0; r < kRows; ++r) {
      std::fill_n(x.Row(r).data(), kInputs, static_cast<float>(r));
    }
    const auto gemm = PackedGemm::Create(weight.view(), {}, Activation::kNone, precision);
    ASSERT_TRUE(gemm.ok()) << gemm.status();
    GemmScratch scratch;
    gemm->Apply(x.view(), y.view(), &scratch);
    for (int r = 0; r < kRows; ++r) {
      ASSERT_FLOAT_EQ(y.Row(r)[0], static_cast<float>(kInputs) * r) << NameOf(precision);
    }
  }
}

TEST_P(GemmShapes, AgreesWithTheDefinitionForAnyNumberOfRows) {
  const auto [precision, matmul, shape] = GetParam();
  SKIP_UNLESS_POSSIBLE(Arithmetic(precision, matmul));
  const Example example(precision, shape);
  if (matmul == Matmul::kOneDnn) return ExpectProducts(example, matmul);
  ForEachInstructionSet([&example] { ExpectProducts(example, Matmul::kNative); });
}

std::string NameOfShapes(const testing::TestParamInfo<GemmShapes::ParamType>& test) {
  const auto& [precision, matmul, shape] = test.param;
  return absl::StrCat(NameOf(precision), "_", NameOf(matmul), "_", shape.inputs, "_by_",
                      shape.outputs);
}

INSTANTIATE_TEST_SUITE_P(
    Gemm, GemmShapes,
    testing::Combine(testing::Values(Precision::kFloat32, Precision::kBFloat16, Precision::kInt8),
                     testing::Values(Matmul::kOneDnn, Matmul::kNative),
                     testing::Values(Shape{64, 64}, Shape{64, 192}, Shape{128, 64}, Shape{33, 17},
                                     Shape{1, 1}, Shape{64, 935}, Shape{1024, 96})),
    NameOfShapes);

// ARM multiplies four inputs, two rows and two outputs at once, in blocks of 1024 inputs, and six
// rows and 64 outputs together: something is left over of each of them here.
TEST(Gemm, BFloat16TakesWhatIsLeftOver) {
  const Arithmetic arithmetic = {Precision::kBFloat16, Matmul::kNative};
  SKIP_UNLESS_POSSIBLE(arithmetic);
  std::mt19937 random(16);
  GemmScratch scratch;
  for (const int inputs : {1, 2, 3, 4, 5, 7, 30, 1023, 1024, 1025, 2051}) {
    for (const int outputs : {1, 2, 63, 64, 65, 129}) {
      SCOPED_TRACE(testing::Message() << inputs << " x " << outputs);
      const Matrix<float> weight = RandomMatrix(outputs, inputs, &random);
      const std::vector<float> bias = RandomVector(outputs, &random);
      const auto gemm = PackedGemm::Create(weight.view(), bias, Activation::kRelu, arithmetic);
      ASSERT_TRUE(gemm.ok()) << gemm.status();
      for (int rows = 1; rows <= (inputs > 1000 ? 5 : 17); ++rows) {
        const Matrix<float> x = RandomMatrix(rows, inputs, &random);
        Matrix<float> y(rows, outputs);
        gemm->Apply(x.view(), y.view(), &scratch);
        ExpectProduct(Precision::kBFloat16, x, weight, bias, Activation::kRelu, y);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Some outputs of Int8Rows, bit for bit as Int8Gemm computes them.
void ExpectNamedOutputs(int inputs, int outputs) {
  std::mt19937 random(12);
  const Matrix<float> weight = RandomMatrix(outputs, inputs, &random);
  const std::vector<float> bias = RandomVector(outputs, &random);
  const auto gemm = Int8Gemm::Create(weight.view(), bias, Activation::kNone);
  ASSERT_TRUE(gemm.ok()) << gemm.status();
  Int8Rows selective(outputs, inputs);
  const absl::Status set = selective.Set(0, weight.view(), bias);
  ASSERT_TRUE(set.ok()) << set;
  for (const int rows : {1, 2, 3, 4, 5, 6, 11, 16}) {
    const Matrix<float> x = RandomMatrix(rows, inputs, &random);
    QuantizedRows quantized;
    quantized.Resize(rows, inputs);
    QuantizeRows(x.view(), 0, rows, &quantized);
    Matrix<float> all(rows, outputs);
    gemm->Apply(quantized, 0, gemm->panels(), all.view());
    for (const int count : {1, 2, 3, 4, 5, 50, 700}) {
      std::vector<int32_t> named(count);
      for (int32_t& o : named) o = std::uniform_int_distribution<>(0, outputs - 1)(random);
      Matrix<float> y(rows, count);
      selective.Apply(quantized, named, y.view());
      for (int r = 0; r < rows; ++r) {
        for (int j = 0; j < count; ++j) {
          ASSERT_EQ(y.Row(r)[j], all.Row(r)[named[j]]) << "row " << r << " output " << j;
        }
      }
    }
  }
}

TEST(Int8Rows, ComputesTheOutputsThatAreNamedAsInt8GemmDoes) {
  ForEachInstructionSet([] {
    for (const auto& [inputs, outputs] : {std::pair(512, 1000), {64, 65}, {33, 17}, {1, 1}}) {
      SCOPED_TRACE(testing::Message() << inputs << " x " << outputs);
      ExpectNamedOutputs(inputs, outputs);
    }
  });
}

TEST(Int8Rows, RefusesWeightsThatAreNotFinite) {
  Matrix<float> weight(2, 3);
  std::fill_n(weight.view().data(), 6, 1.0f);
  weight.Row(1)[2] = std::nanf("");
  EXPECT_TRUE(absl::IsInvalidArgument(
      Int8Rows(2, 3).Set(0, weight.view(), std::vector<float>{0.0f, 0.0f})));
}

TEST(Gemm, NoBiasIsABiasOfZero) {
  std::mt19937 random(8);
  const Matrix<float> weight = RandomMatrix(20, 30, &random), x = RandomMatrix(3, 30, &random);
  absl::StatusOr<PackedGemm> gemm =
      PackedGemm::Create(weight.view(), {}, Activation::kNone, Precision::kFloat32);
  ASSERT_TRUE(gemm.ok()) << gemm.status();
  Matrix<float> y(3, 20);
  GemmScratch scratch;
  gemm->Apply(x.view(), y.view(), &scratch);
  ExpectProduct(Precision::kFloat32, x, weight, {}, Activation::kNone, y);
}

TEST(Gemm, ThreadsShareAWeight) {
  std::mt19937 random(9);
  const Matrix<float> weight = RandomMatrix(256, 64, &random), x = RandomMatrix(40, 64, &random);
  absl::StatusOr<PackedGemm> gemm =
      PackedGemm::Create(weight.view(), {}, Activation::kRelu, Precision::kFloat32);
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
  for (const Matrix<float>& y : results)
    ExpectProduct(Precision::kFloat32, x, weight, {}, Activation::kRelu, y);
}

TEST(Gemm, Int8KeepsARowOfEqualValues) {
  std::mt19937 random(11);
  const Matrix<float> weight = RandomMatrix(70, 9, &random);
  const auto gemm = PackedGemm::Create(weight.view(), {}, Activation::kNone, Precision::kInt8);
  ASSERT_TRUE(gemm.ok()) << gemm.status();
  Matrix<float> x(3, 9), y(3, 70);
  for (int r = 0; r < 3; ++r) std::fill(x.Row(r).begin(), x.Row(r).end(), 2.5f * (r - 1));
  GemmScratch scratch;
  gemm->Apply(x.view(), y.view(), &scratch);
  ExpectProduct(Precision::kInt8, x, weight, {}, Activation::kNone, y);
}

// CPUs with and without VNNI have the same fingerprint, and those with and without ARM's
// extensions.
TEST(Gemm, Int8GivesTheSameBytesWithoutExtensions) {
  if (Int8Extensions().size() == 1) GTEST_SKIP() << "this CPU has none";
  std::mt19937 random(13);
  const Matrix<float> weight = RandomMatrix(200, 300, &random), x = RandomMatrix(20, 300, &random);
  const auto gemm = PackedGemm::Create(weight.view(), RandomVector(200, &random), Activation::kRelu,
                                       {Precision::kInt8, Matmul::kNative});
  ASSERT_TRUE(gemm.ok()) << gemm.status();
  Matrix<float> with(20, 200), without(20, 200);
  GemmScratch scratch;
  gemm->Apply(x.view(), with.view(), &scratch);
  const std::string fingerprint = Fingerprint(Precision::kInt8);
  for (const Int8Extension extension : Int8Extensions()) {
    LimitInt8ExtensionForTest(extension);
    SCOPED_TRACE(Int8Isa());
    gemm->Apply(x.view(), without.view(), &scratch);
    EXPECT_EQ(Fingerprint(Precision::kInt8), fingerprint);
    for (int r = 0; r < 20; ++r) EXPECT_EQ(with.Row(r), without.Row(r)) << r;
  }
  UnlimitInt8ExtensionForTest();
}

TEST(Gemm, Int8RefusesAWeightThatIsNotFinite) {
  Matrix<float> weight(1, 2);
  weight.Row(0)[0] = 1.0f, weight.Row(0)[1] = std::numeric_limits<float>::infinity();
  const auto gemm = PackedGemm::Create(weight.view(), {}, Activation::kNone, Precision::kInt8);
  EXPECT_TRUE(absl::IsInvalidArgument(gemm.status())) << gemm.status();
}

TEST(Gemm, WhatIsNotFiniteDoesNotComeOutAsANumber) {
  std::mt19937 random(10);
  const Matrix<float> weight = RandomMatrix(5, 8, &random);
  for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16, Precision::kInt8}) {
    if (!CanMultiply(precision).ok()) continue;
    const auto gemm = PackedGemm::Create(weight.view(), {}, Activation::kNone, precision);
    ASSERT_TRUE(gemm.ok()) << gemm.status();
    Matrix<float> x = RandomMatrix(2, 8, &random), y(2, 5);
    x.Row(0)[3] = std::numeric_limits<float>::infinity();
    GemmScratch scratch;
    gemm->Apply(x.view(), y.view(), &scratch);
    for (int o = 0; o < 5; ++o) {
      EXPECT_FALSE(std::isfinite(y.Row(0)[o])) << NameOf(precision);
      EXPECT_TRUE(std::isfinite(y.Row(1)[o])) << NameOf(precision);
    }
  }
}

TEST(Fingerprint, NamesWhatRoundsNumbers) {
  const std::string rounding =
      (FusesMulAdd() ? "fma-" : "mul-add-") + std::to_string(kArithmeticVersion);
  EXPECT_EQ(Fingerprint(Precision::kInt8), "int8/" + rounding);
  EXPECT_EQ(Fingerprint({Precision::kInt8, Matmul::kOneDnn}), Fingerprint(Precision::kAuto));
  EXPECT_EQ(Fingerprint(Precision::kFloat32), "float32/" + rounding);
  EXPECT_EQ(Fingerprint({Precision::kBFloat16, Matmul::kOneDnn}),
            "bfloat16/onednn-" + OneDnnVersion() + "-" + OneDnnIsa() + "/" + rounding);
}

}  // namespace
}  // namespace dragoman::gemm_test
