// The gate that calls pass: counts those inside, and shuts for good when the server drains.
//
// Thread-safe.

#ifndef DRAGOMAN_SERVER_API_GATE_H_
#define DRAGOMAN_SERVER_API_GATE_H_

#include <functional>
#include <map>

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

  // Lets no more calls in.
  void Shut();
  bool shut() const;

  // Calls `on_shut`, which must not block, when the gate is shut, or at once if it is shut already.
  // For calls that end only when their clients end them.  Returns a number for Unwatch.
  int Watch(std::function<void()> on_shut);
  void Unwatch(int watch);

  // Waits until no call is inside or `timeout` has passed; returns how many still are.
  int AwaitEmpty(absl::Duration timeout);

 private:
  mutable absl::Mutex mutex_;
  bool shut_ ABSL_GUARDED_BY(mutex_) = false;
  int inside_ ABSL_GUARDED_BY(mutex_) = 0;
  int watches_ ABSL_GUARDED_BY(mutex_) = 0;  // so far
  std::map<int, std::function<void()>> on_shut_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_GATE_H_
