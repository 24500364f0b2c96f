// From how many rows on oneDNN takes the sums of int8 products faster than our kernels, on this
// machine.  Both give the same bytes, so that what is measured shows in time alone.

#ifndef DRAGOMAN_ENGINE_MATH_INT8_CROSSOVER_H_
#define DRAGOMAN_ENGINE_MATH_INT8_CROSSOVER_H_

#include <limits>

namespace dragoman {

// More rows than there are.
constexpr int kNever = std::numeric_limits<int>::max();

// Measured at its first call, in some hundredths of a second.  kNever where oneDNN would need the
// weights in another layout.  Thread-safe.
int OneDnnInt8Crossover();

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_INT8_CROSSOVER_H_
