#include "engine/base/clock.h"

#include <time.h>

namespace dragoman {

absl::Time ThreadCpuTime() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return absl::TimeFromTimespec(time);
}

}  // namespace dragoman
