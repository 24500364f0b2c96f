// SIGTERM and SIGINT: the first one asks the server to drain, the second one ends it at once.

#ifndef DRAGOMAN_SERVER_SHUTDOWN_H_
#define DRAGOMAN_SERVER_SHUTDOWN_H_

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace dragoman {

// At most one in a process; its thread lives until the process ends.
class ShutdownSignals {
 public:
  // Blocks the signals in this thread and in all that it starts, and waits for them on a thread of
  // its own.  Until Catch, a signal ends the process with exit code 0: there is nothing to drain.
  // REQUIRES: the process has no other thread yet.
  ShutdownSignals();

  // From now on the first signal ends Await, and the second the process, with exit code
  // 128 + signal.
  void Catch();

  // Waits for the first signal and returns it.  REQUIRES: Catch was called.
  int Await();

 private:
  void Listen();

  absl::Mutex mutex_;
  bool catching_ ABSL_GUARDED_BY(mutex_) = false;
  int signal_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_SHUTDOWN_H_
