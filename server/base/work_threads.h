// Threads for work that may wait, such as for a database, so that it does not keep the threads that
// serve connections.  A bounded number of pieces of work wait; those of several principals take
// turns, so that one who brings many delays the others by one.
//
// Thread-safe.

#ifndef DRAGOMAN_SERVER_BASE_WORK_THREADS_H_
#define DRAGOMAN_SERVER_BASE_WORK_THREADS_H_

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

  explicit WorkThreads(int threads);
  // Does what waits.
  ~WorkThreads();
  WorkThreads(const WorkThreads&) = delete;
  WorkThreads& operator=(const WorkThreads&) = delete;

  // Does the work later, on another thread.  RESOURCE_EXHAUSTED if too much waits already, of all or
  // of this principal.
  absl::Status Run(const std::string& principal, std::function<void()> work);

 private:
  void Serve();

  absl::Mutex mutex_;
  bool ends_ ABSL_GUARDED_BY(mutex_) = false;
  size_t waiting_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, std::deque<std::function<void()>>> work_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::string> turns_ ABSL_GUARDED_BY(mutex_);  // of principals that have work
  std::vector<std::thread> threads_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_BASE_WORK_THREADS_H_
