// Threads for slow or blocking work, to keep it off threads that serve many callers: connection
// threads and engine workers.
//
//   WorkThreads threads(4, "to be prepared");
//   RETURN_IF_ERROR(threads.Run("alice", wanted, [...](const absl::Status& status) { ... }));
//
// What waits is asked every moment whether it is still wanted, by a thread that does nothing else:
// who gave up, or is late, hears of it however busy the others are, and costs them no time.
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
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/base/not_copyable.h"

namespace dragoman {

class WorkThreads : private NotCopyable {
 public:
  static constexpr size_t kMostWaiting = 4096, kMostOfPrincipal = 1024;

  // How often it is looked at what waits.
  static constexpr absl::Duration kBetweenLooks = absl::Milliseconds(2);

  // OK, or why the work is not wanted any more.
  using Wanted = std::function<absl::Status(absl::Time now)>;
  using Work = std::function<void(const absl::Status& wanted)>;

  // `what` completes the message "too many requests wait WHAT".
  WorkThreads(int threads, const char* what);
  // Runs what waits.
  ~WorkThreads();

  // Does the work later, on another thread; if it is not wanted any more before it begins, `work`
  // is only told that, and should return soon.  RESOURCE_EXHAUSTED if too much waits already, of
  // all or of this principal.  `wanted` must not block, and is not called once `work` is.
  absl::Status Run(const std::string& principal, Wanted wanted, Work work);
  // What is wanted in any case.
  absl::Status Run(const std::string& principal, std::function<void()> work);

 private:
  struct Piece {
    Wanted wanted;  // null: always
    Work work;
  };
  struct Account {
    std::deque<Piece> work;  // that waits
    size_t running = 0;
    double seconds = 0;
  };
  using Accounts = std::map<std::string, Account>;

  void Serve();
  void EndUnwanted();
  // Whose work is next, or end() if none may run.
  Accounts::iterator Next() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Charge(Accounts::iterator account, double seconds) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DropIdle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const char* const what_;
  const size_t most_running_;  // of a principal
  absl::Mutex mutex_;
  bool ends_ ABSL_GUARDED_BY(mutex_) = false;
  size_t waiting_ ABSL_GUARDED_BY(mutex_) = 0, running_ ABSL_GUARDED_BY(mutex_) = 0;
  double now_ ABSL_GUARDED_BY(mutex_) = 0;  // the account of the one that was served last, then
  Accounts accounts_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

class WorkTurn : private NotCopyable {
 public:
  static constexpr absl::Duration kLongest = absl::Milliseconds(10);

  // Without `threads` there are no others.
  WorkTurn(WorkThreads* threads, std::string principal, WorkThreads::Wanted wanted)
      : threads_(threads), principal_(std::move(principal)), wanted_(std::move(wanted)) {}
  ~WorkTurn() { End(); }

  // Waits for a turn; why the work is not wanted any more, if that is so first.
  absl::Status Begin();
  // Waits for another turn if this one is over.  OK if there is none.
  absl::Status Continue();
  void End();

 private:
  struct Piece;

  WorkThreads* const threads_;
  const std::string principal_;
  const WorkThreads::Wanted wanted_;
  std::shared_ptr<Piece> piece_;  // null: it is nobody's turn
  absl::Time over_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_WORK_THREADS_H_
