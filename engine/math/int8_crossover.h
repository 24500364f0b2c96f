// From how many rows on oneDNN takes the sums of int8 products faster than our kernels, on this
// machine.  Both give the same bytes, so that what is measured shows in time alone.
//
// Without AMX both multiply by the same instructions and ours fetch the next weights meanwhile:
// they are as fast or faster at any number of rows (tests/bench/README.md), and nothing is
// measured.

#ifndef DRAGOMAN_ENGINE_MATH_INT8_CROSSOVER_H_
#define DRAGOMAN_ENGINE_MATH_INT8_CROSSOVER_H_

#include <limits>

namespace dragoman {

// More rows than there are.
constexpr int kNever = std::numeric_limits<int>::max();

// Measured at its first call where the CPU has AMX, in some hundredths of a second; kNever
// elsewhere.  Thread-safe.
int OneDnnInt8Crossover();

// Measures it on any CPU; kNever where oneDNN would need the weights in another layout.
int MeasureOneDnnInt8Crossover();

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_INT8_CROSSOVER_H_
