// The number of rows from which oneDNN computes the sums of int8 products faster than our kernels
// on this machine.  Both give the same bytes, so the measurement affects only speed.
//
// Without AMX both use the same instructions, and ours also prefetch the next weights: they are as
// fast or faster for nearly any number of rows (tests/bench/README.md), so nothing is measured.

#ifndef DRAGOMAN_ENGINE_MATH_INT8_CROSSOVER_H_
#define DRAGOMAN_ENGINE_MATH_INT8_CROSSOVER_H_

#include <limits>

namespace dragoman {

// More rows than any product has.
constexpr int kNeverFaster = std::numeric_limits<int>::max();

// Measured by the first call if the CPU has AMX, in some hundredths of a second; kNeverFaster
// otherwise. Thread-safe.
int OneDnnInt8Crossover();

// Measures it on any CPU. kNeverFaster if oneDNN would need another layout of the weights.
int MeasureOneDnnInt8Crossover();

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_INT8_CROSSOVER_H_
