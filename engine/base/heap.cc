#include "engine/base/heap.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>

namespace dragoman {
namespace {

std::atomic<int> kept = 128 << 10;  // as glibc does by itself

}  // namespace

void KeepInHeap(int bytes) {
#ifdef __GLIBC__
  kept = bytes;
  mallopt(M_MMAP_THRESHOLD, bytes);
  mallopt(M_TRIM_THRESHOLD, 2 * bytes);
#endif
}

void GiveBackHeap() {
#ifdef __GLIBC__
  malloc_trim(0);
  // It leaves out the end of what is not the main part.  That is looked at when a block of more
  // than 64 KiB is freed.
  mallopt(M_TRIM_THRESHOLD, 1 << 20);
  void* volatile const block = std::malloc(100 << 10);
  std::free(block);
  mallopt(M_TRIM_THRESHOLD, 2 * kept);
#endif
}

}  // namespace dragoman
