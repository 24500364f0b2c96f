// What measurements of our kernels at start have in common.

#ifndef DRAGOMAN_ENGINE_MATH_TRIAL_H_
#define DRAGOMAN_ENGINE_MATH_TRIAL_H_

#include "absl/functional/function_ref.h"
#include "engine/math/matrix.h"

namespace dragoman {

// The CPU seconds of this thread that the work takes, so that other processes on this core do not
// count.
double SecondsOf(absl::FunctionRef<void()> work);

// The variant, of so many, that runs fastest.  They run in turns, so many times, and the fastest
// turn of each counts: what disturbs a turn only makes it slower.  Variant 0 is returned unless
// another takes less than `margin` of its time, so that where they are equal, noise does not
// decide.
int Fastest(int variants, int turns, double margin, absl::FunctionRef<void(int)> run);

// Numbers that resemble weights; always the same.
Matrix<float> TrialNumbers(int rows, int cols);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_TRIAL_H_
