// What measurements of our kernels at start have in common.

#ifndef DRAGOMAN_ENGINE_MATH_TRIAL_H_
#define DRAGOMAN_ENGINE_MATH_TRIAL_H_

#include "absl/functional/function_ref.h"
#include "engine/math/matrix.h"

namespace dragoman {

// The CPU seconds of this thread that the work takes, so that other processes on this core do not
// count.
double SecondsOf(absl::FunctionRef<void()> work);

// Numbers that resemble weights; always the same.
Matrix<float> TrialNumbers(int rows, int cols);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_TRIAL_H_
