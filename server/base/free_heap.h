// Returns heap memory that a burst has left free to the system.

#ifndef DRAGOMAN_SERVER_BASE_FREE_HEAP_H_
#define DRAGOMAN_SERVER_BASE_FREE_HEAP_H_

#include <cstddef>

namespace dragoman {

class FreeHeap {
 public:
  // To be called now and then.  It can be slow: not on a serving thread.
  void GiveBack();

 private:
  size_t least_ = 0;  // that was free since memory was last given back
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_BASE_FREE_HEAP_H_
