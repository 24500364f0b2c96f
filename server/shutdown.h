// The server's reaction to signals:
//
//   SIGTERM, SIGINT   the first one makes it drain, the second one ends it at once
//   SIGHUP            makes it read its configuration, models, certificates and tokens again
//   SIGPIPE           ignored: the write itself fails with an error
//   SIGUSR1, SIGUSR2, the timers' and the real-time signals   ignored: they mean nothing here

#ifndef DRAGOMAN_SERVER_SHUTDOWN_H_
#define DRAGOMAN_SERVER_SHUTDOWN_H_

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace dragoman {

// At most one per process; its thread lives until the process ends.
class ShutdownSignals {
 public:
  // Blocks the signals in this thread and in all that it starts, and waits for them on a separate
  // thread.  Until Catch, SIGTERM and SIGINT end the process with exit code 0, because there is
  // nothing to drain, and SIGHUP does nothing, because all files are about to be read.  REQUIRES:
  // the process has no other thread yet.
  ShutdownSignals();

  // From now on Await gets the signals.
  void Catch();

  // As if SIGTERM had come for the first time.
  void End();

  // Waits for a signal and returns it.  SIGTERM and SIGINT are returned by every later call, too;
  // another one of them ends the process with exit code 128 + signal.  REQUIRES: Catch was called.
  int Await();

 private:
  void Listen();
  void Take(int signal);

  absl::Mutex mutex_;
  bool catching_ ABSL_GUARDED_BY(mutex_) = false;
  bool hangup_ ABSL_GUARDED_BY(mutex_) = false;  // not yet returned by Await
  int end_ ABSL_GUARDED_BY(mutex_) = 0;          // SIGTERM or SIGINT, once received
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_SHUTDOWN_H_
