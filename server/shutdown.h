// What the server does on signals:
//
//   SIGTERM, SIGINT   the first one asks it to drain, the second one ends it at once
//   SIGHUP            asks it to read its configuration, models, certificates and tokens again
//   SIGPIPE           nothing: whoever writes learns it from the write

#ifndef DRAGOMAN_SERVER_SHUTDOWN_H_
#define DRAGOMAN_SERVER_SHUTDOWN_H_

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace dragoman {

// At most one in a process; its thread lives until the process ends.
class ShutdownSignals {
 public:
  // Blocks the signals in this thread and in all that it starts, and waits for them on a thread of
  // its own.  Until Catch, SIGTERM and SIGINT end the process with exit code 0, as there is nothing
  // to drain, and SIGHUP does nothing: all files are read anyway.
  // REQUIRES: the process has no other thread yet.
  ShutdownSignals();

  // From now on Await is told of the signals.
  void Catch();

  // Waits for a signal and returns it.  After SIGTERM or SIGINT, which it returns again and again,
  // another of them ends the process with exit code 128 + signal.  REQUIRES: Catch was called.
  int Await();

 private:
  void Listen();
  void Take(int signal);

  absl::Mutex mutex_;
  bool catching_ ABSL_GUARDED_BY(mutex_) = false;
  bool hangup_ ABSL_GUARDED_BY(mutex_) = false;  // that Await has not returned yet
  int end_ ABSL_GUARDED_BY(mutex_) = 0;          // SIGTERM or SIGINT, once it came
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_SHUTDOWN_H_
