// Threads for work that takes long or waits, so that it is not done by a thread that serves many:
// one of a connection, or a worker of the engine.
//
//   WorkThreads threads(4, "to be prepared");
//   RETURN_IF_ERROR(threads.Run("alice", [...] { ... }));
//
// Principals share the threads' time.  Each has an account of the seconds that its work took, and
// the next piece of work is of the one whose account is lowest; one that comes, or comes back,
// starts level with the last one that was served.  (Start-time fair queueing: Goyal, Vin and Cheng,
// 1996.)  No principal has all the threads at once, so that another one waits for at most the piece
// that ends first.  A bounded number of pieces wait.
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

  // `what` is done with requests, for messages: "too many requests wait WHAT".
  WorkThreads(int threads, const char* what);
  // Does what waits.
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
  // Whose work is next; the end if there is none that may run.
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
