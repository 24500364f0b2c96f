// The common queue of all workers: the scheduler behind a lock, and the signal that wakes idle
// workers.
//
// It also knows whether the workers are alive.  Call asks each of them to take a turn, whether or
// not there is anything to do; a worker that hangs in a turn, or does not wake up, does not
// respond.
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

  // Admits all jobs of a request (Scheduler::Enter) or none; UNAVAILABLE while draining.
  absl::Status Enter(std::vector<JobPtr> jobs, absl::Time now);

  // Whether Enter would refuse such a request (Scheduler::CheckAhead).
  absl::Status CheckAhead(const RequestTerms& terms, const CostRange& cost, absl::Time now);

  // What the principal has left of its quota (QuotaBook::Left).
  double QuotaLeft(const std::string& principal, const Quota& quota, absl::Time now) const;

  // Waits until there is work in the queue or the worker is called.  False if there is none and
  // never will be.
  bool AwaitWork(int worker);

  // Asks every worker to take a turn, unless an earlier request is still pending.
  void Call(absl::Time now);
  // How long the slowest worker has not taken a turn that it was asked to take.
  absl::Duration Silence(absl::Time now) const;

  // The next turn of a worker (Scheduler::PlanTurn).
  TurnPlan PlanTurn(int worker, absl::Span<Resident> residents, absl::Time now);

  // That turn has ended.
  void OnTurnEnd(int worker, absl::Time now);

  // A job that was started has ended, with this status.
  void OnEnd(const Job& job, const absl::Status& status);

  // Admits nothing from now on; false if it was draining already.
  bool Drain();

  LineStats stats(Priority priority) const;

 private:
  const SchedulerLimits limits_;
  mutable absl::Mutex mutex_;
  Scheduler scheduler_ ABSL_GUARDED_BY(mutex_);
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  // When each worker was asked to take a turn that it has not taken yet; the infinite future if
  // there is none.
  std::vector<absl::Time> called_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_DISPATCHER_H_
