// Gives memory back to the system that a burst has left free in the heap.

#ifndef DRAGOMAN_SERVER_BASE_FREE_HEAP_H_
#define DRAGOMAN_SERVER_BASE_FREE_HEAP_H_

#include <cstddef>

namespace dragoman {

class FreeHeap {
 public:
  // To be called now and then.  It may take a while: not for a thread that serves anybody.
  void GiveBack();

 private:
  size_t least_ = 0;  // that was free since memory was last given back
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_BASE_FREE_HEAP_H_
