// Time as an argument: whoever needs to know the time is given one of these, so that a test decides
// what time it is.

#ifndef DRAGOMAN_ENGINE_BASE_CLOCK_H_
#define DRAGOMAN_ENGINE_BASE_CLOCK_H_

#include <functional>

#include "absl/time/time.h"

namespace dragoman {

using Clock = std::function<absl::Time()>;

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_CLOCK_H_
