#include "engine/math/kernels.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "engine/math/attend.h"
#include "engine/math/int8_quantize.h"
#include "gtest/gtest.h"
#include "hwy/targets.h"
#include "tests/math/activation_by_definition.h"
#include "tests/math/instruction_sets.h"
#include "tests/math/packed_key_values.h"
#include "tests/math/random_matrix.h"

namespace dragoman::kernels_test {
namespace {

// A CPU with everything that Highway knows and for which nothing was compiled.  Such a target runs
// nothing, must not be tested as if it did, and must not be named.
TEST(InstructionSets, AreThoseThatWereCompiledWhateverElseTheCpuHas) {
  const auto run = [] {
    std::vector<std::string> isas;
    ForEachInstructionSet([&isas] { isas.push_back(HighwayIsa()); });
    return isas;
  };
  const int64_t supported = hwy::SupportedTargets();
  const std::string isa = HighwayIsa();
  const std::vector<std::string> isas = run();
  EXPECT_EQ(isa, isas.front()) << "the best one runs";

  hwy::SetSupportedTargetsForTest(supported | ~CompiledTargets());
  EXPECT_EQ(HighwayIsa(), isa);
  EXPECT_EQ(run(), isas);
  hwy::SetSupportedTargetsForTest(0);
}

TEST(AddAndNorm, AgreesWithTheDefinitionForEveryWidth) {
  std::mt19937 random(1);
  for (const int cols : {1, 2, 7, 16, 31, 64, 100, 512}) {
    const Matrix<float> x = RandomMatrix(3, cols, &random), y = RandomMatrix(3, cols, &random);
    const std::vector<float> gain = RandomVector(cols, &random), bias = RandomVector(cols, &random);
    Matrix<float> out(3, cols);
    AddAndNorm(x.view(), y.view(), gain, bias, 1e-5f, out.view());
    for (int r = 0; r < 3; ++r) {
      double mean = 0, variance = 0;
      for (int c = 0; c < cols; ++c) mean += (double{x.Row(r)[c]} + y.Row(r)[c]) / cols;
      for (int c = 0; c < cols; ++c) {
        variance += std::pow(double{x.Row(r)[c]} + y.Row(r)[c] - mean, 2) / cols;
      }
      for (int c = 0; c < cols; ++c) {
        const double v = double{x.Row(r)[c]} + y.Row(r)[c];
        const double want = (v - mean) / std::sqrt(variance + 1e-5) * gain[c] + bias[c];
        ASSERT_NEAR(out.Row(r)[c], want, 1e-4) << cols << " columns, row " << r << " col " << c;
      }
    }
  }
}

TEST(AddAndNorm, MayWriteOverItsInput) {
  std::mt19937 random(2);
  Matrix<float> x = RandomMatrix(4, 50, &random);
  const Matrix<float> y = RandomMatrix(4, 50, &random);
  const std::vector<float> gain = RandomVector(50, &random), bias = RandomVector(50, &random);
  Matrix<float> apart(4, 50);
  AddAndNorm(x.view(), y.view(), gain, bias, 1e-5f, apart.view());
  AddAndNorm(x.view(), y.view(), gain, bias, 1e-5f, x.view());
  for (int r = 0; r < 4; ++r) EXPECT_EQ(x.Row(r), apart.Row(r));
}

TEST(QuantizeWeights, AgreesWithTheDefinitionForEveryWidth) {
  ForEachInstructionSet([] {
    std::mt19937 random(3);
    for (int size = 1; size <= 70; ++size) {
      std::vector<float> weights = RandomVector(size, &random);
      for (const float step : {0.0f, 0.01f, 1e-30f}) {  // the last makes all of them too large
        std::vector<int8_t> values(size);
        const float scale = QuantizeWeights(weights, step, values.data());
        float max = 0.0f;
        for (const float w : weights) max = std::max(max, std::abs(w));
        ASSERT_EQ(scale, step > 0.0f ? step : max / 127.0f);
        for (int i = 0; i < size; ++i) {
          const float scaled = step > 0.0f ? weights[i] / step : weights[i] * (127.0f / max);
          ASSERT_EQ(values[i], std::lrint(std::clamp(scaled, -127.0f, 127.0f)))
              << i << " of " << size;
        }
      }
      for (const float bad : {std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
        std::vector<float> damaged = weights;
        damaged[size / 2] = bad;
        std::vector<int8_t> values(size);
        ASSERT_TRUE(std::isnan(QuantizeWeights(damaged, 0.0f, values.data())));
      }
      const std::vector<float> zeros(size, 0.0f);
      std::vector<int8_t> values(size, 1);
      ASSERT_EQ(QuantizeWeights(zeros, 0.0f, values.data()), 0.0f);
      ASSERT_EQ(values, std::vector<int8_t>(size, 0));
    }
  });
}

// x rounded to bfloat16, as float32.
Matrix<float> RoundedToBFloat16(const Matrix<float>& x) {
  Matrix<BFloat16> halves(x.rows(), x.cols());
  ToBFloat16(x.view(), halves.view());
  Matrix<float> rounded(x.rows(), x.cols());
  for (int r = 0; r < x.rows(); ++r) {
    for (int c = 0; c < x.cols(); ++c) {
      rounded.Row(r)[c] = ToFloat(halves.Row(r)[c]);
    }
  }
  return rounded;
}

// The weight of a head in the attention that is returned; some heads have none.
float WeightOf(int head) { return head % 3 == 1 ? 0.0f : 0.25f + static_cast<float>(head) / 8.0f; }

// Attention by definition, in double; element e belongs to head e mod heads.  The result is
// followed by the attention to each position, summed over the heads with their weights.
std::vector<double> Attention(int heads, absl::Span<const float> q,
                              const Matrix<float>& keys_values,
                              const std::vector<int32_t>& positions) {
  const int width = static_cast<int>(q.size());
  std::vector<double> out(q.size() + positions.size(), 0.0);
  for (int h = 0; h < heads; ++h) {
    std::vector<double> weights;
    for (const int32_t p : positions) {
      double dot = 0;
      for (int e = h; e < width; e += heads) dot += double{q[e]} * keys_values.Row(p)[e];
      weights.push_back(std::exp(dot));
    }
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (size_t j = 0; j < positions.size(); ++j) {
      out[width + j] += WeightOf(h) * weights[j] / sum;
      for (int e = h; e < width; e += heads) {
        out[e] += weights[j] / sum * keys_values.Row(positions[j])[width + e];
      }
    }
  }
  return out;
}

void ExpectAttention(const PackedKeyValues& packed, const Matrix<float>& q,
                     const std::vector<int32_t>& positions,
                     const std::vector<std::vector<double>>& want) {
  const KeyValueFormat& format = packed.format();
  std::vector<float> scratch(AttendScratch(format.heads, positions.size(), q.rows()));
  Matrix<float> out(q.rows(), q.cols());
  std::vector<float> weights;
  for (int h = 0; h < format.heads; ++h) weights.push_back(WeightOf(h));
  Matrix<float> attention(q.rows(), static_cast<int>(positions.size())), told(q.rows(), q.cols());
  std::vector<float*> rows;
  for (int r = 0; r < q.rows(); ++r) rows.push_back(attention.Row(r).data());
  Attend(format, q.view(), packed.Rows(positions), absl::MakeSpan(scratch), told.view(),
         {.attention = rows, .head_weights = weights});
  Attend(format, q.view(), packed.Rows(positions), absl::MakeSpan(scratch), out.view());
  for (int r = 0; r < q.rows(); ++r) {
    ASSERT_EQ(told.Row(r), out.Row(r)) << "attention that is told changes the output";
    for (int j = 0; j < attention.cols(); ++j) {
      ASSERT_NEAR(attention.Row(r)[j], want[r][q.cols() + j], 2e-6 * format.heads)
          << NameOf(format.precision) << ", " << format.heads << " heads, width " << q.cols()
          << ", query " << r << ", position " << j << " of " << attention.cols();
    }
    for (int c = 0; c < q.cols(); ++c) {
      ASSERT_NEAR(out.Row(r)[c], want[r][c], 1e-4)
          << NameOf(format.precision) << ", " << format.heads << " heads, width " << q.cols()
          << ", " << positions.size() << " positions, " << q.rows() << " queries, " << r << ", "
          << c;
    }
  }
}

void ExpectAttentionOfAllShapes() {
  std::mt19937 random(3);
  for (const int heads : {1, 2, 3, 4, 6, 8, 12, 16}) {
    for (const int head_dim : {1, 3, 8, 16, 20, 32, 64}) {
      const int width = heads * head_dim;
      const Matrix<float> keys_values = RoundedToBFloat16(RandomMatrix(90, 2 * width, &random));
      const PackedKeyValues float32({Precision::kFloat32, heads, width}, keys_values);
      const PackedKeyValues bfloat16({Precision::kBFloat16, heads, width}, keys_values);
      int queries = 0;
      for (const int length : {1, 2, 3, 4, 5, 15, 16, 17, 70}) {
        queries = queries % 6 + 1;
        const Matrix<float> q = RandomMatrix(queries, width, &random, 0.3f);
        std::vector<int32_t> positions(length);
        for (int32_t& p : positions) p = std::uniform_int_distribution<int32_t>(0, 89)(random);
        std::vector<std::vector<double>> want;
        for (int r = 0; r < queries; ++r) {
          want.push_back(Attention(heads, q.Row(r), keys_values, positions));
        }
        ExpectAttention(float32, q, positions, want);
        ExpectAttention(bfloat16, q, positions, want);
      }
    }
  }
}

// In int8, attention must be exact for the numbers that the bytes and scales represent.
void ExpectAttentionInInt8() {
  std::mt19937 random(4);
  for (const int heads : {1, 3, 4, 8, 16, 32}) {
    for (const int head_dim : {1, 3, 8, 20, 64}) {
      const int width = heads * head_dim;
      Matrix<float> keys_values = RandomMatrix(70, 2 * width, &random);
      for (int r = 0; r < keys_values.rows(); ++r) {
        for (const int half : {0, width}) {
          for (int h = 0; h < heads; ++h) {
            // A scale that bfloat16 represents exactly, and an element that becomes 127.
            const float scale = std::ldexp(1.0f + static_cast<float>(r % 7) / 8.0f, h % 3 - 7);
            for (int e = half + h; e < half + width; e += heads) {
              float& x = keys_values.Row(r)[e];
              x = scale * std::round(std::clamp(x * 40.0f, -127.0f, 127.0f));
            }
            keys_values.Row(r)[half + h] = scale * (r % 2 == 0 ? 127.0f : -127.0f);
          }
        }
      }
      const PackedKeyValues int8({Precision::kInt8, heads, width}, keys_values);
      const Matrix<float> q = RandomMatrix(5, width, &random, 0.3f);
      for (const int length : {1, 4, 17, 70}) {
        std::vector<int32_t> positions(length);
        for (int32_t& p : positions) p = std::uniform_int_distribution<int32_t>(0, 69)(random);
        std::vector<std::vector<double>> want;
        for (int r = 0; r < q.rows(); ++r) {
          want.push_back(Attention(heads, q.Row(r), keys_values, positions));
        }
        ExpectAttention(int8, q, positions, want);
      }
    }
  }
}

TEST(Attend, IsExactForTheNumbersThatInt8Keeps) { ForEachInstructionSet(ExpectAttentionInInt8); }

TEST(Attend, InInt8EveryHeadHasItsOwnScale) {
  ForEachInstructionSet([] {
    for (const auto& [heads, width] : {std::pair(8, 512), {2, 6}}) {
      std::mt19937 random(5);
      Matrix<float> keys_values = RandomMatrix(1, 2 * width, &random);
      for (int e = 0; e < 2 * width; e += heads) keys_values.Row(0)[e] *= 1e4f;  // head 0
      const PackedKeyValues int8({Precision::kInt8, heads, width}, keys_values);
      const Matrix<float> q = RandomMatrix(1, width, &random);
      Matrix<float> out(1, width);
      std::vector<float> scratch(AttendScratch(heads, 1, 1));
      Attend(int8.format(), q.view(), int8.Rows({0}), absl::MakeSpan(scratch), out.view());
      for (int e = 0; e < width; ++e) {  // with one position, the output is its values
        EXPECT_NEAR(out.Row(0)[e], keys_values.Row(0)[width + e], (e % heads == 0 ? 2e2f : 2e-2f));
      }
    }
  });
}

TEST(Attend, InInt8AHeadWhoseValuesAreNotFiniteIsNaN) {
  ForEachInstructionSet([] {
    for (const auto& [heads, width] : {std::pair(8, 512), {2, 6}}) {
      for (const float bad : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
        for (const int at : {width + 1, 2 * width - 1}) {
          std::mt19937 random(6);
          Matrix<float> keys_values = RandomMatrix(2, 2 * width, &random);
          keys_values.Row(1)[at] = bad;
          const PackedKeyValues int8({Precision::kInt8, heads, width}, keys_values);
          const Matrix<float> q = RandomMatrix(1, width, &random);
          Matrix<float> out(1, width);
          std::vector<float> scratch(AttendScratch(heads, 2, 1));
          Attend(int8.format(), q.view(), int8.Rows({0, 1}), absl::MakeSpan(scratch), out.view());
          EXPECT_TRUE(std::isnan(out.Row(0)[at % heads])) << at;
          EXPECT_FALSE(std::isnan(out.Row(0)[(at + 1) % heads])) << at;
        }
      }
    }
  });
}

TEST(Attend, AllZerosInInt8AreZeros) {
  const KeyValueFormat format = {Precision::kInt8, 8, 512};
  Matrix<float> keys_values(1, 1024), out(1, 512);
  std::fill_n(keys_values.view().data(), 1024, 0.0f);
  std::mt19937 random(7);
  const Matrix<float> q = RandomMatrix(1, 512, &random);
  const PackedKeyValues int8(format, keys_values);
  std::vector<float> scratch(AttendScratch(8, 1, 1));
  Attend(format, q.view(), int8.Rows({0}), absl::MakeSpan(scratch), out.view());
  for (const float x : out.Row(0)) EXPECT_EQ(x, 0.0f);
}

TEST(Attend, AgreesWithTheDefinition) { ForEachInstructionSet(ExpectAttentionOfAllShapes); }

TEST(Attend, LargeScoresDoNotOverflow) {
  Matrix<float> q(1, 1), keys_values(2, 2), out(1, 1);
  q.Row(0)[0] = 1000.0f;
  keys_values.Row(0)[0] = 1.0f, keys_values.Row(1)[0] = 0.5f;
  keys_values.Row(0)[1] = 3.0f, keys_values.Row(1)[1] = 5.0f;
  const PackedKeyValues packed({.heads = 1, .width = 1}, keys_values);
  std::vector<float> scratch(AttendScratch(1, 2, 1));
  Attend(packed.format(), q.view(), packed.Rows({0, 1}), absl::MakeSpan(scratch), out.view());
  EXPECT_FLOAT_EQ(out.Row(0)[0], 3.0f);
}

void ExpectSumsOfExponentials() {
  std::mt19937 random(16);
  for (const int size : {1, 15, 16, 17, 512, 1000}) {
    for (const float scale : {0.01f, 1.0f, 20.0f}) {
      std::vector<float> x = RandomVector(size, &random, scale);
      const float max = *std::max_element(x.begin(), x.end());
      double want = 0.0;
      for (const float v : x) want += std::exp(double{v} - max);
      EXPECT_NEAR(SumExp(x, max), want, 1e-6 * want) << size << " " << scale;
      // Adds elements that count as nothing, between the others and after them.
      const float inf = std::numeric_limits<float>::infinity();
      for (const float nothing : {-inf, std::nanf(""), max - 200.0f}) {
        for (int i = 0; i < 20; ++i) x.insert(x.begin() + (i * size) / 20, nothing);
      }
      EXPECT_NEAR(SumExp(x, max), want, 1e-6 * want) << size << " " << scale;
    }
  }
}

TEST(SumExp, AgreesWithTheDefinition) { ForEachInstructionSet(ExpectSumsOfExponentials); }

TEST(ToBFloat16, RoundsToTheNearestAndTiesToEven) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::pair<float, uint16_t> cases[] = {
      {0.0f, 0x0000},          {-0.0f, 0x8000},      {1.0f, 0x3F80},
      {0x1.01p0f, 0x3F80},     {0x1.03p0f, 0x3F82},  {0x1.010002p0f, 0x3F81},
      {inf, 0x7F80},           {-inf, 0xFF80},       {0x1.fffffep127f, 0x7F80},
      {std::nanf(""), 0x7FC0}, {-0x1.03p0f, 0xBF82},
  };
  for (const int width : {1, 40}) {  // one by one, and in vectors
    for (const auto& [value, want] : cases) {
      Matrix<float> x(1, width);
      std::fill(x.Row(0).begin(), x.Row(0).end(), value);
      Matrix<BFloat16> out(1, width);
      ToBFloat16(x.view(), out.view());
      for (const BFloat16 rounded : out.Row(0)) EXPECT_EQ(rounded.bits, want) << value;
    }
  }
}

constexpr Activation kActivations[] = {Activation::kNone,     Activation::kRelu,
                                       Activation::kSilu,     Activation::kGelu,
                                       Activation::kGeluTanh, Activation::kGeluSigmoid};

TEST(Activate, AgreesWithTheDefinition) {
  std::mt19937 random(4);
  const Matrix<float> x = RandomMatrix(2, 37, &random, 3.0f);
  for (const Activation activation : kActivations) {
    Matrix<float> y(2, 37);
    for (int r = 0; r < 2; ++r) std::copy(x.Row(r).begin(), x.Row(r).end(), y.Row(r).begin());
    Activate(activation, y.view());
    for (int r = 0; r < 2; ++r) {
      for (int c = 0; c < 37; ++c) {
        const double v = x.Row(r)[c];
        const double want = ActivateByDefinition(activation, v);
        EXPECT_NEAR(y.Row(r)[c], want, 1e-5);
      }
    }
  }
}

TEST(Activate, LargeNumbersStayWhatTheyAreOrVanish) {
  for (const Activation activation : kActivations) {
    if (activation == Activation::kNone) continue;
    for (const float v : {1e4f, 3e38f}) {
      Matrix<float> x(1, 2);
      x.Row(0)[0] = v;
      x.Row(0)[1] = -v;
      Activate(activation, x.view());
      EXPECT_FLOAT_EQ(x.Row(0)[0], v);
      EXPECT_EQ(x.Row(0)[1], 0.0f);
    }
  }
}

TEST(ActivateAndGate, MultipliesTheActivatedLeftHalfByTheRightOne) {
  std::mt19937 random(5);
  for (const int n : {1, 16, 37}) {
    const Matrix<float> x = RandomMatrix(3, 2 * n, &random, 2.0f);
    for (const Activation activation : kActivations) {
      Matrix<float> y(3, n);
      ActivateAndGate(activation, x.view(), y.view());
      for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < n; ++c) {
          EXPECT_NEAR(y.Row(r)[c], ActivateByDefinition(activation, x.Row(r)[c]) * x.Row(r)[n + c],
                      2e-5);
        }
      }
    }
  }
}

TEST(LayerNorm, IsThatOfAddAndNormWithoutASum) {
  std::mt19937 random(6);
  const Matrix<float> x = RandomMatrix(3, 45, &random, 2.0f);
  const Matrix<float> parameters = RandomMatrix(2, 45, &random);
  const Matrix<float> zero = [] {
    Matrix<float> matrix(3, 45);
    std::fill_n(matrix.view().data(), 3 * 45, 0.0f);
    return matrix;
  }();
  Matrix<float> want(3, 45), have(3, 45);
  AddAndNorm(x.view(), zero.view(), parameters.Row(0), parameters.Row(1), 1e-5f, want.view());
  LayerNorm(x.view(), parameters.Row(0), parameters.Row(1), 1e-5f, have.view());
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 45; ++c) EXPECT_EQ(have.Row(r)[c], want.Row(r)[c]);
  }
}

TEST(RootMeanSquareNorm, AgreesWithTheDefinition) {
  std::mt19937 random(7);
  for (const int n : {3, 64, 75}) {
    const Matrix<float> x = RandomMatrix(2, n, &random, 3.0f);
    const Matrix<float> gain = RandomMatrix(1, n, &random);
    Matrix<float> y(2, n);
    RootMeanSquareNorm(x.view(), gain.Row(0), 1e-6f, y.view());
    for (int r = 0; r < 2; ++r) {
      double squares = 0;
      for (const float v : x.Row(r)) squares += static_cast<double>(v) * v;
      for (int c = 0; c < n; ++c) {
        const double want = x.Row(r)[c] / std::sqrt(squares / n + 1e-6) * gain.Row(0)[c];
        EXPECT_NEAR(y.Row(r)[c], want, 1e-5);
      }
    }
  }
}

}  // namespace
}  // namespace dragoman::kernels_test
