#include "engine/base/elementary.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace dragoman {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Within a few units in the last place of what the C library says.
void ExpectNear(double have, double want, double at) {
  EXPECT_NEAR(have, want, 8e-16 * std::abs(want)) << "at " << at;
}

TEST(Elementary, AgreesWithTheCLibrary) {
  for (int i = -4000; i <= 4000; ++i) {
    const double x = i * 0.17;
    ExpectNear(ExpOf(x), std::exp(x), x);
    EXPECT_NEAR(SinOf(x), std::sin(x), 4e-16) << x;
    EXPECT_NEAR(CosOf(x), std::cos(x), 4e-16) << x;
    if (i > 0) ExpectNear(LogOf(x), std::log(x), x);
    ExpectNear(LogOf(std::ldexp(1.37, i / 5)), std::log(std::ldexp(1.37, i / 5)), i);
  }
  for (const double x : {700.0, 709.1, 709.5, -700.0}) ExpectNear(ExpOf(x), std::exp(x), x);
  for (const double base : {0.5, 1.0, 7.0, 300.0, 10000.0}) {
    for (const double exponent : {-1.3, -1.0, 0.6, 1.0, 2.0}) {
      EXPECT_NEAR(PowOf(base, exponent), std::pow(base, exponent),
                  4e-15 * std::pow(base, exponent));
    }
  }
}

TEST(Elementary, AngleOfPositionsRoundToTheSameFloats) {
  for (int position = 0; position < 5000; position += 7) {
    EXPECT_EQ(static_cast<float>(SinOf(position)), static_cast<float>(std::sin(position)));
    EXPECT_EQ(static_cast<float>(CosOf(position)), static_cast<float>(std::cos(position)));
  }
}

TEST(Elementary, IsExactWhereTheResultIs) {
  EXPECT_EQ(ExpOf(0.0), 1.0);
  EXPECT_EQ(LogOf(1.0), 0.0);
  EXPECT_EQ(SinOf(0.0), 0.0);
  EXPECT_EQ(CosOf(0.0), 1.0);
  EXPECT_EQ(PowOf(123.0, 1.0), 123.0);
  EXPECT_EQ(PowOf(0.0, 0.0), 1.0);
  EXPECT_EQ(PowOf(0.0, 0.6), 0.0);
  EXPECT_EQ(PowOf(0.0, -1.0), kInfinity);
  EXPECT_EQ(PowOf(1.0, 0.6), 1.0);
}

TEST(Elementary, EndsWhereTheNumbersEnd) {
  EXPECT_EQ(ExpOf(-kInfinity), 0.0);
  EXPECT_EQ(ExpOf(kInfinity), kInfinity);
  EXPECT_EQ(ExpOf(-1e9), 0.0);
  EXPECT_EQ(ExpOf(1e9), kInfinity);
  EXPECT_TRUE(std::isnan(ExpOf(std::nan(""))));
  EXPECT_EQ(LogOf(0.0), -kInfinity);
  EXPECT_EQ(LogOf(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(LogOf(-1.0)));
  EXPECT_TRUE(std::isnan(LogOf(std::nan(""))));
  EXPECT_NEAR(LogOf(5e-324), std::log(5e-324), 1e-12);
}

}  // namespace
}  // namespace dragoman
