// The functions of <cmath> whose last bit differs between C libraries and CPUs, with the same bits
// on all of them: these use nothing but additions, multiplications and divisions in double
// precision, which IEEE 754 defines.  Their errors are within a few units in the last place, far
// below the rounding to float32 that usually follows.  (std::sqrt needs no such care: it is defined
// as well.)

#ifndef DRAGOMAN_ENGINE_BASE_ELEMENTARY_H_
#define DRAGOMAN_ENGINE_BASE_ELEMENTARY_H_

namespace dragoman {

// As std::exp, but 0 where that is below the smallest normal number.
double ExpOf(double x);

// As std::log.
double LogOf(double x);

// As std::pow.  REQUIRES: base >= 0.
double PowOf(double base, double exponent);

// As std::sin and std::cos.  REQUIRES: |x| <= 1e6.
double SinOf(double x);
double CosOf(double x);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_ELEMENTARY_H_
