#include "server/base/free_heap.h"

#include <malloc.h>

#include <algorithm>

namespace dragoman {

void FreeHeap::GiveBack() {
#ifdef __GLIBC__
  // Less is left to glibc: whoever comes next needs it again.
  constexpr size_t kWorthIt = 16 << 20;
  if (++calls_ % 5 != 0) return;
  // What was given back counts as free, too.
  const size_t now = mallinfo2().fordblks;
  least_ = std::min(least_, now);
  if (now < least_ + kWorthIt) return;
  malloc_trim(0);
  least_ = now;
#endif
}

}  // namespace dragoman
