// The one line of all workers: the scheduler behind a lock, and the bell that wakes idle workers.
//
// It also knows whether the workers live.  Call asks each of them for a turn, whether it has
// anything to do or not; one that hangs in a turn, or does not wake, leaves the call unanswered.
//
// Thread-safe.

#ifndef DRAGOMAN_ENGINE_DECODE_DISPATCHER_H_
#define DRAGOMAN_ENGINE_DECODE_DISPATCHER_H_

#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "engine/decode/job.h"
#include "engine/decode/scheduler.h"

namespace dragoman {

class Dispatcher {
 public:
  explicit Dispatcher(const SchedulerLimits& limits)
      : limits_(limits), scheduler_(limits), called_(limits.workers, absl::InfiniteFuture()) {}

  const SchedulerLimits& limits() const { return limits_; }

  // Lets in the jobs of a request (Scheduler::Enter), or none; UNAVAILABLE once it drains.
  absl::Status Enter(std::vector<JobPtr> jobs, absl::Time now);

  // Waits until there is something to take from the line, or the worker is called; false if there
  // is nothing and never will be.
  bool AwaitWork(int worker);

  // Asks every worker for a turn that was not asked before, or has taken one since.
  void Call(absl::Time now);
  // For how long the slowest worker has owed a turn that it was asked for.
  absl::Duration Silence(absl::Time now) const;

  // The next turn of a worker (Scheduler::PlanTurn).
  TurnPlan PlanTurn(int worker, absl::Span<Resident> residents, absl::Time now);

  // A job that was started has ended, with this status.
  void OnEnd(const Job& job, const absl::Status& status);

  // Lets nobody in any more; false if it did so already.
  bool Drain();

  LineStats stats() const;

 private:
  const SchedulerLimits limits_;
  mutable absl::Mutex mutex_;
  Scheduler scheduler_ ABSL_GUARDED_BY(mutex_);
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  // When each worker was asked for the turn that it owes; the future if it owes none.
  std::vector<absl::Time> called_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_DISPATCHER_H_
