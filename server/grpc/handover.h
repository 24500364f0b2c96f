#ifndef DRAGOMAN_SERVER_GRPC_HANDOVER_H_
#define DRAGOMAN_SERVER_GRPC_HANDOVER_H_

#include <atomic>

namespace dragoman {

// Orders what threads did with a call before they let gRPC go on, in Finish or at the end of
// OnCancel, before what OnDone does on another thread.  gRPC does that anyway, but ThreadSanitizer
// does not see into its library.
class Handover {
 public:
  void Give() { given_.exchange(true, std::memory_order_acq_rel); }  // perhaps after another thread
  void Take() const { (void)given_.load(std::memory_order_acquire); }

 private:
  std::atomic<bool> given_ = false;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_GRPC_HANDOVER_H_
