// The common part of the measurements of our kernels at startup.

#ifndef DRAGOMAN_ENGINE_MATH_TRIAL_H_
#define DRAGOMAN_ENGINE_MATH_TRIAL_H_

#include "absl/functional/function_ref.h"
#include "engine/math/matrix.h"

namespace dragoman {

// The CPU seconds of this thread that the work takes, so that other processes on this core do not
// count.
double SecondsOf(absl::FunctionRef<void()> work);

// The fastest of `variants` variants.  They run alternately, `turns` times each, and the fastest
// run of each counts, because disturbances only make a run slower.  Variant 0 is returned unless
// another takes less than `margin` of its time, so that noise does not decide between equal ones.
int Fastest(int variants, int turns, double margin, absl::FunctionRef<void(int)> run);

// Numbers that resemble weights; always the same.
Matrix<float> TrialNumbers(int rows, int cols);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_TRIAL_H_
