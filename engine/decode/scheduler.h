// Who waits, and who gets the next turn of a worker.  All workers share one queue, from which each
// takes what it has room for.  Starts no thread, reads no clock, holds no lock.
//
// A worker's turn has room for a number of rows.  They are allocated one sentence after another:
//
//   1. to short requests, up to three quarters of the rows: first those in progress, then those
//      that wait;
//   2. to the other interactive requests.  Beside short ones they get a third as much time as those
//      take: what a sentence takes too much, they get less in the next turns (turn.cc).  Without
//      short ones, they get all rows;
//   3. to batch requests, if they have had less than a sixteenth of the time;
//   4. to short requests, from what is left;
//   5. to batch requests, from what is left: beside short ones, what the others did not use.
//
// Time is priced before it is spent: work_times.h learns what rows, positions and tokens take.
//
// A sentence in progress that gets no rows pauses, and its bytes do not change (the row law).  So a
// short request waits for the turns in progress and for other short ones, never for a document; and
// documents keep a seventh of the time, however many short requests there are.
//
// Requests of equal urgency are served one after another (fair_share.h), so that it is known what
// goes before each of them.  A request that cannot meet its deadline behind that, at the current
// speed (forecast.h), is refused on arrival, and later as soon as it turns out.
//
// Interactive and batch requests have a queue each, with the same bounds, so that batch work takes
// no room from the others, however much of it waits and whether or not it has begun.  Principals
// share each queue: if it is full, a newcomer of a principal with little work in it takes the place
// of a request of the principal with the most work, the one that would be served last.  A large
// newcomer takes several, or none if they would not be enough.
//
// Under overload most requests are refused, so that has to be cheap: a request that would be
// refused whatever its exact cost is refused before it is tokenized (CheckAhead), and the waiting
// requests are not checked in every turn, but every few milliseconds.
//
// In all of this, a principal that is ahead of a waiting one by more than FairShare::kMostLead gets
// nothing.  fair_share.h proves the bound, and tests/sim/fair_sim_test.cc checks it.

#ifndef DRAGOMAN_ENGINE_DECODE_SCHEDULER_H_
#define DRAGOMAN_ENGINE_DECODE_SCHEDULER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "engine/decode/fair_share.h"
#include "engine/decode/forecast.h"
#include "engine/decode/job.h"
#include "engine/decode/quota.h"
#include "engine/decode/turn.h"

namespace dragoman {

struct SchedulerLimits {
  int workers = 1;
  TurnLimits turn;
  // What may wait in each of the two queues.
  int max_waiting_requests = 256;
  int max_waiting_tokens = 65536;     // source tokens
  double max_waiting_work = 1 << 22;  // as expected (JobCost::work)
  bool forecasts = true;  // false: only passed deadlines count, to measure the value of forecasts
};

// What a request may cost, before its sentences are known.
struct CostRange {
  struct Cost {
    double work = 0, seconds = 0;  // as of JobCost
  };
  double least_tokens = 0;
  Cost least, most;
  int least_steps = 0;    // of its longest sentence
  double most_short = 0;  // the most seconds of a short request (Flow)
};

// The state of the queue of one priority.
struct LineStats {
  int requests = 0;                            // with a job that waits
  int tokens = 0;                              // source tokens of the jobs that wait
  double work = 0;                             // expected
  absl::Time oldest = absl::InfiniteFuture();  // when the first of them started to wait
};

class Scheduler {
 public:
  explicit Scheduler(const SchedulerLimits& limits);
  // REQUIRES: nothing waits and nothing runs.
  ~Scheduler();

  // Admits all jobs of one request, which wait from `now` on, or none, and says why:
  // RESOURCE_EXHAUSTED if the queue of its priority is full or the principal's quota is used up,
  // DEADLINE_EXCEEDED if its deadline cannot be met behind the queue.  Long requests leave a
  // quarter of a queue to short ones.  An empty queue takes any single request, and any queue takes
  // what has entered before (Job::has_entered).  REQUIRES: the jobs have been priced, fit into an
  // idle worker's memory, and share a RequestState.  Several requests may share one, for example
  // texts of a call that take different routes: they end together but wait apart.
  absl::Status Enter(std::vector<JobPtr>* jobs, absl::Time now);

  // The error with which Enter would refuse a request of these terms now even at its lowest
  // possible cost; otherwise OK.
  absl::Status CheckAhead(const RequestTerms& terms, const CostRange& cost, absl::Time now);

  // The next turn of a worker whose batches hold `residents`, in the order in which they joined.
  // Everything that runs or starts is charged at once.
  TurnPlan PlanTurn(int worker, absl::Span<Resident> residents, absl::Time now);

  // The turn that was planned last for this worker has ended.
  void OnTurnEnd(int worker, absl::Time now);

  // A job that was started has ended, with this status.
  void OnEnd(const Job& job, const absl::Status& status);

  const FairShare& fair() const { return fair_; }
  bool line_empty() const {
    return !fair_.waits(Priority::kInteractive) && !fair_.waits(Priority::kBatch);
  }
  LineStats stats(Priority priority) const;
  const QuotaBook& quotas() const { return quotas_; }

 private:
  // A request that would enter.
  struct Newcomer {
    const RequestTerms& terms;
    LineSize size;
    double seconds = 0;  // that it is expected to take
    int kind = 0;        // Flow::kind
    int longest = 0;     // steps of its longest sentence

    Urgency urgency() const { return UrgencyOf(terms.priority, kind); }
  };
  // Requests that yield their places to a newcomer.
  struct Yielding {
    std::vector<Flow*> flows;
    LineSize all;                                     // their size
    std::unordered_map<const Account*, LineSize> of;  // likewise, by account
  };
  absl::StatusOr<Yielding> Check(const Newcomer& newcomer, absl::Time now);
  absl::StatusOr<Yielding> FindYielding(const Newcomer& newcomer) const;
  absl::Status CheckBounds(const Newcomer& newcomer, const LineSize& less) const;
  Flow* NextToYield(const Newcomer& newcomer, const Yielding& yielding) const;
  void Evict(Flow* flow, absl::Time now);
  absl::Duration WaitOf(const Newcomer& newcomer) const;
  absl::Duration Wait(Urgency urgency, const Account* own, double time, double before) const;
  absl::Duration Needed(int longest, double seconds) const;
  bool Forecasts(const RequestTerms& terms, absl::Time now) const;
  absl::Status CanBeMet(const RequestTerms& terms, absl::Time now, absl::Duration needed) const;
  void CheckWaiting(absl::Time now, TurnPlan* plan);
  void CheckWaiting(const Account& account, Urgency urgency, absl::Time now,
                    std::vector<std::pair<Flow*, absl::Status>>* lost) const;
  void CloseIfDone(Flow* flow);

  const SchedulerLimits limits_;
  FairShare fair_;
  std::unordered_map<const Flow*, std::unique_ptr<Flow>> flows_;
  std::vector<std::pair<JobPtr, absl::Status>> yielded_;  // to be reported in the next turn
  std::vector<WorkerState> workers_;
  absl::Time last_end_ = absl::InfinitePast();  // of the last turn that did any work
  absl::Time check_at_ = absl::InfinitePast();  // when to check next what waits
  Forecast forecast_;
  QuotaBook quotas_;
  int64_t arrivals_ = 0;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_SCHEDULER_H_
