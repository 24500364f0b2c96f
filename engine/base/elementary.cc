// Each function is reduced to a short interval, where the terms of its power series vanish quickly:
//
//   exp(x) = 2^n exp(r)                 r = x - n log(2), at most 0.35
//   log(x) = n log(2) + 2 artanh(s)     x = 2^n m with m near 1, s = (m - 1) / (m + 1), at most
//   0.172 sin(x) = +-sin(r) or +-cos(r)       r = x - n pi / 2, at most 0.79
//
// log(2) and pi / 2 come in parts, of which the first ones have so few bits that their products
// with n are exact (W. Cody and W. Waite, Software Manual for the Elementary Functions, 1980).

#include "engine/base/elementary.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace dragoman {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

constexpr double kLog2[] = {0x1.62e42feep-1, 0x1.a39ef35793c76p-33};
constexpr double kHalfPi[] = {0x1.921fb544p0, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69};

// 1 / n!, up to the power of r whose term is below 1e-17.
constexpr auto kInverseFactorials = [] {
  std::array<double, 15> inverses = {1.0};
  double factorial = 1.0;
  for (size_t n = 1; n < inverses.size(); ++n) inverses[n] = 1.0 / (factorial *= n);
  return inverses;
}();

// r - r^3 / 3! + r^5 / 5! - ... or, from the term of r^0 on, the same of the cosine.
double Alternate(double r, int first) {
  constexpr int kLast = 19;  // the power whose term is below 1e-19
  double sum = 1.0;
  for (int n = kLast - 1 + first % 2; n > first; n -= 2) sum = 1.0 - r * r / (n * (n - 1)) * sum;
  return first == 0 ? sum : r * sum;
}

// sin(x + quarters pi / 2).
double Turned(double x, int quarters) {
  const double n = std::nearbyint(x / kHalfPi[0]);
  const double r = x - n * kHalfPi[0] - n * kHalfPi[1] - n * kHalfPi[2];
  const int quadrant = (static_cast<int>(n) + quarters) & 3;
  const double value = Alternate(r, quadrant % 2 == 0 ? 1 : 0);
  return quadrant < 2 ? value : -value;
}

}  // namespace

double ExpOf(double x) {
  if (std::isnan(x)) return x;
  if (x > 709.0) return x > 709.7 ? kInfinity : ExpOf(x - 1.0) * 2.718281828459045;
  if (x < -708.0) return 0.0;
  const double n = std::nearbyint(x / kLog2[0]);
  const double r = x - n * kLog2[0] - n * kLog2[1];
  double sum = kInverseFactorials.back();
  for (size_t i = kInverseFactorials.size() - 1; i-- > 0;) sum = sum * r + kInverseFactorials[i];
  return std::ldexp(sum, static_cast<int>(n));
}

double LogOf(double x) {
  if (std::isnan(x) || x < 0.0) return kNaN;
  if (x == 0.0) return -kInfinity;
  if (x == kInfinity) return x;
  int n;
  double m = std::frexp(x, &n);  // in [1/2, 1)
  if (m < 0.7071067811865476) m *= 2.0, --n;
  const double s = (m - 1.0) / (m + 1.0);
  constexpr int kLast = 23;  // the power whose term is below 1e-18
  double sum = 1.0 / kLast;
  for (int i = kLast - 2; i > 0; i -= 2) sum = 1.0 / i + s * s * sum;
  return n * kLog2[0] + (2.0 * s * sum + n * kLog2[1]);
}

double PowOf(double base, double exponent) {
  if (exponent == 0.0) return 1.0;
  if (exponent == 1.0) return base;
  return ExpOf(exponent * LogOf(base));
}

double SinOf(double x) { return Turned(x, 0); }
double CosOf(double x) { return Turned(x, 1); }

}  // namespace dragoman
