#include "engine/math/kernels.h"

#include <cmath>
#include <numeric>

#include "gtest/gtest.h"
#include "tests/math/random_matrix.h"

namespace dragoman {
namespace {

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

// Attention by the definition, in double.
std::vector<double> Attention(int heads, absl::Span<const float> q, const Matrix<float>& keys,
                              const Matrix<float>& values, const std::vector<int32_t>& positions) {
  const int d = static_cast<int>(q.size()) / heads;
  std::vector<double> out(q.size(), 0.0);
  for (int h = 0; h < heads; ++h) {
    std::vector<double> weights;
    for (const int32_t p : positions) {
      double dot = 0;
      for (int c = h * d; c < (h + 1) * d; ++c) dot += double{q[c]} * keys.Row(p)[c];
      weights.push_back(std::exp(dot));
    }
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (size_t j = 0; j < positions.size(); ++j) {
      for (int c = h * d; c < (h + 1) * d; ++c) {
        out[c] += weights[j] / sum * values.Row(positions[j])[c];
      }
    }
  }
  return out;
}

TEST(Attend, AgreesWithTheDefinition) {
  std::mt19937 random(3);
  for (const int heads : {1, 2, 8}) {
    for (const int head_dim : {1, 3, 8, 16, 20, 64}) {
      const int d_model = heads * head_dim;
      const std::vector<float> q = RandomVector(d_model, &random, 0.3f);
      const Matrix<float> keys = RandomMatrix(90, d_model, &random),
                          values = RandomMatrix(90, d_model, &random);
      for (const int length : {1, 2, 15, 16, 17, 70}) {
        std::vector<int32_t> positions(length);
        for (int32_t& p : positions) p = std::uniform_int_distribution<int32_t>(0, 89)(random);
        std::vector<float> weights(heads * length), out(d_model);
        Attend(heads, q, keys.view(), values.view(), positions, absl::MakeSpan(weights),
               absl::MakeSpan(out));
        const std::vector<double> want = Attention(heads, q, keys, values, positions);
        for (int c = 0; c < d_model; ++c) {
          ASSERT_NEAR(out[c], want[c], 1e-4)
              << heads << " heads of " << head_dim << " over " << length << ", column " << c;
        }
      }
    }
  }
}

TEST(Attend, LargeScoresDoNotOverflow) {
  const std::vector<float> q = {1000.0f};
  Matrix<float> keys(2, 1), values(2, 1);
  keys.Row(0)[0] = 1.0f, keys.Row(1)[0] = 0.5f;
  values.Row(0)[0] = 3.0f, values.Row(1)[0] = 5.0f;
  std::vector<float> weights(2), out(1);
  Attend(1, q, keys.view(), values.view(), {0, 1}, absl::MakeSpan(weights), absl::MakeSpan(out));
  EXPECT_FLOAT_EQ(out[0], 3.0f);
}

}  // namespace
}  // namespace dragoman
