// Time as an argument: code that needs the time is given a Clock, so that a test can decide what
// time it is.

#ifndef DRAGOMAN_ENGINE_BASE_CLOCK_H_
#define DRAGOMAN_ENGINE_BASE_CLOCK_H_

#include <functional>

#include "absl/time/time.h"

namespace dragoman {

using Clock = std::function<absl::Time()>;

// A Clock that measures the CPU time of this thread, so that other processes on its core do not
// count.  Only differences mean anything.
absl::Time ThreadCpuTime();

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_CLOCK_H_
