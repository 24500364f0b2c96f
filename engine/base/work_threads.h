// Threads for slow or blocking work, to keep it off threads that serve many callers: connection
// threads and engine workers.
//
//   WorkThreads threads(4, "to be prepared");
//   RETURN_IF_ERROR(threads.Run("alice", [...] { ... }));
//
// Principals share the threads' time.  Each has an account of the seconds that its work took.  The
// lowest account is served next; a new or returning principal starts level with the one served
// last.  (Start-time fair queueing: Goyal, Vin and Cheng, 1996.)  If there are several threads, no
// principal has all of them at once, so one never waits for all of another's work.  A bounded
// number of pieces wait.
//
// Thread-safe.

#ifndef DRAGOMAN_ENGINE_BASE_WORK_THREADS_H_
#define DRAGOMAN_ENGINE_BASE_WORK_THREADS_H_

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"

namespace dragoman {

class WorkThreads {
 public:
  static constexpr size_t kMostWaiting = 4096, kMostOfPrincipal = 1024;

  // `what` completes the message "too many requests wait WHAT".
  WorkThreads(int threads, const char* what);
  // Runs what waits.
  ~WorkThreads();
  WorkThreads(const WorkThreads&) = delete;
  WorkThreads& operator=(const WorkThreads&) = delete;

  // Does the work later, on another thread.  RESOURCE_EXHAUSTED if too much waits already, of all
  // or of this principal.
  absl::Status Run(const std::string& principal, std::function<void()> work);

 private:
  struct Account {
    std::deque<std::function<void()>> work;  // that waits
    size_t running = 0;
    double seconds = 0;
  };
  using Accounts = std::map<std::string, Account>;

  void Serve();
  // Whose work is next, or end() if none may run.
  Accounts::iterator Next() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Charge(Accounts::iterator account, double seconds) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const char* const what_;
  const size_t most_running_;  // of a principal
  absl::Mutex mutex_;
  bool ends_ ABSL_GUARDED_BY(mutex_) = false;
  size_t waiting_ ABSL_GUARDED_BY(mutex_) = 0, running_ ABSL_GUARDED_BY(mutex_) = 0;
  double now_ ABSL_GUARDED_BY(mutex_) = 0;  // the account of the one that was served last, then
  Accounts accounts_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_WORK_THREADS_H_
