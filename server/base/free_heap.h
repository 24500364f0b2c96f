// Returns heap memory that a burst has left free to the system.

#ifndef DRAGOMAN_SERVER_BASE_FREE_HEAP_H_
#define DRAGOMAN_SERVER_BASE_FREE_HEAP_H_

#include <cstddef>

namespace dragoman {

class FreeHeap {
 public:
  // To be called about once a second.  It looks every fifth time, which takes milliseconds: not on
  // a serving thread.
  void GiveBack();

 private:
  int calls_ = 0;
  size_t least_ = 0;  // that was free since memory was last given back
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_BASE_FREE_HEAP_H_
