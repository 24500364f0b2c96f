// The door that calls pass: counts those inside, and shuts for good when the server drains.
//
// Thread-safe.

#ifndef DRAGOMAN_SERVER_GATE_H_
#define DRAGOMAN_SERVER_GATE_H_

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace dragoman {

class Gate {
 public:
  // UNAVAILABLE once the gate is shut.  Each Enter, whatever it returns, is followed by one Leave.
  absl::Status Enter();
  void Leave();

  // Lets nobody in any more.
  void Shut();
  bool shut() const;

  // Waits until nobody is inside or `timeout` has passed; returns how many still are.
  int AwaitEmpty(absl::Duration timeout);

 private:
  mutable absl::Mutex mutex_;
  bool shut_ ABSL_GUARDED_BY(mutex_) = false;
  int inside_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_GATE_H_
