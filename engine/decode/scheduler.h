// Who waits, and who gets the next turn of a worker.  All workers share one queue, from which each
// takes what it has room for.  Starts no thread, reads no clock, holds no lock.
//
// A worker's turn has room for a number of rows.  They are allocated one sentence after another:
//
//   1. to short requests, up to three quarters of the rows: first those in progress, then those
//      that wait, in order of arrival, except that cheap ones overtake (fair_share.cc);
//   2. to the other interactive requests, those that have received least first (fair_share.h),
//      whether their sentence is in progress or starts now.  While there are short ones, the others
//      get only a quarter of the rows, or enough to fill half of the turn, and of a turn with more
//      than 32 rows only as much as of one with 32 (the fewer rows, the sooner the next turn
//      comes); and only while they have not taken more than half as much time as the short ones
//      beside them (time_sharing.h);
//   3. to short requests, from what is left;
//   4. to batch requests, from what is left; a sixteenth of the rows if that is nothing for long.
//
// A sentence in progress that gets no rows pauses.  There is no other preemption: documents may
// fill a batch, yet the next request gets its rows in the next turn, and the bytes do not change
// (the row law).  So a short request waits for the turns in progress and for other short ones,
// never for a document; and documents keep a quarter of the rows, however many short requests there
// are.
//
// A request that cannot meet its deadline at the current speed (forecast.h) is refused before it
// starts, or on arrival if the queue is too long for it.
//
// Interactive and batch requests have a queue each, with the same bounds, so that batch work takes
// no room from the others, however much of it waits and whether or not it has begun.  Principals
// share each queue: if it is full, a newcomer of a principal with little work in it takes the place
// of a request of the principal with the most work, the one that would be served last.  A large
// newcomer takes several, or none if they would not be enough.
//
// Under overload most requests are refused, so that has to be cheap: a request that would be
// refused whatever its exact cost is refused before it is tokenized (CheckAhead), and a waiting
// request is not checked in every turn, but when half of its spare time is over.
//
// In all of this, a principal that is ahead of a waiting one by more than FairShare::kMostLead gets
// nothing, so none gets far ahead of another that has work. fair_share.h proves the bound, and
// tests/sim/fair_sim_test.cc checks it.

#ifndef DRAGOMAN_ENGINE_DECODE_SCHEDULER_H_
#define DRAGOMAN_ENGINE_DECODE_SCHEDULER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
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
#include "engine/decode/time_sharing.h"

namespace dragoman {

struct SchedulerLimits {
  int workers = 1;
  size_t kv_capacity_bytes = 0;  // for keys and values of one worker
  // What may wait in each of the two queues.
  int max_waiting_requests = 256;
  int max_waiting_tokens = 65536;     // source tokens
  double max_waiting_work = 1 << 22;  // as expected (JobCost::work)
  bool forecasts = true;  // false: only passed deadlines count, to measure the value of forecasts
};

// A sentence in a worker's batch.
struct Resident {
  const Job* job = nullptr;
  int stages_left = 0;  // of its encoding
  // Set by PlanTurn: whether it takes part in the next turn, and how many stages are encoded
  // before.
  bool runs = false;
  int encode_stages = 0;
};

// A sentence that joins a worker's batch.
struct Starting {
  JobPtr job;
  int encode_stages = 0;  // how many to encode at once: all of them, or the first ones
};

struct TurnPlan {
  std::vector<Starting> start;                          // to be taken into the batch
  std::vector<std::pair<JobPtr, absl::Status>> refuse;  // jobs that will not run, and why
  PerPriority<double> work;   // rows and source tokens of what runs and starts
  bool memory_short = false;  // a waiting job does not fit into the memory for keys and values
};

// What a request may cost, before its sentences are known.
struct CostRange {
  double least_tokens = 0, least_work = 0;
  double most_work = 0;
  int least_steps = 0;  // of its longest sentence
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
  // quarter of a queue to short ones, and an empty queue takes any single request.  REQUIRES: the
  // jobs have been priced, fit into an idle worker's memory, and share a RequestState.  Several
  // requests may share one, for example texts of a call that take different routes: they end
  // together but wait apart.
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
  bool line_empty() const { return checks_.empty(); }
  LineStats stats(Priority priority) const;
  const QuotaBook& quotas() const { return quotas_; }

 private:
  friend class SchedulerTurn;

  // A request that would enter.
  struct Newcomer {
    const RequestTerms& terms;
    LineSize size;
    bool is_short = false;
    int longest = 0;  // steps of its longest sentence
  };
  // A worker's load after its last plan.
  struct WorkerLoad {
    double share = 0;   // of the rows of a turn
    bool full = false;  // it could not take the next job for lack of memory
    // Its last turn: when it began, how much work it did, and for whom.
    absl::Time began;
    double rows = 0, used = 0;
    bool for_short = false, for_others = false;
    TimeSharing time;
    double encode_credit = 0;  // how much of long requests may be encoded, in turns
    double saved = 0;          // what long requests did not use of their share of the last turns
    double owed_to_batch = 0;  // likewise
  };

  // Requests that yield their places to a newcomer.
  struct Yielding {
    std::vector<Flow*> flows;
    LineSize all;                                     // their size
    std::unordered_map<const Account*, LineSize> of;  // likewise, by account
  };
  absl::StatusOr<Yielding> Check(const Newcomer& newcomer, absl::Time now);
  absl::StatusOr<Yielding> MakeRoom(const Newcomer& newcomer) const;
  absl::Status CheckRoom(const Newcomer& newcomer, const LineSize& less) const;
  Flow* NextToYield(const Newcomer& newcomer, const Yielding& yielding) const;
  void Evict(Flow* flow, absl::Time now);
  double WorkBefore(const Newcomer& newcomer) const;
  absl::Duration Needed(int longest, double work) const;
  bool Forecasts(const RequestTerms& terms, absl::Time now) const;
  absl::Status CanBeMet(const RequestTerms& terms, absl::Time now, absl::Duration needed) const;
  void RefuseUnwanted(absl::Time now, TurnPlan* plan);
  JobPtr Take(Flow* flow);
  void CountWaiting(const Flow& flow, const LineSize& more);
  void CloseIfDone(Flow* flow);
  bool IsTurnOf(int worker, double share) const;

  const SchedulerLimits limits_;
  FairShare fair_;
  std::unordered_map<const Flow*, std::unique_ptr<Flow>> flows_;
  PerPriority<std::set<Flow*, ByArrival>> since_;         // those that wait
  std::set<Flow*, ByCheck> checks_;                       // the same
  PerPriority<std::array<LineSize, 2>> waiting_;          // by Flow::kind
  std::vector<std::pair<JobPtr, absl::Status>> yielded_;  // to be reported in the next turn
  std::vector<WorkerLoad> loads_;
  absl::Time last_short_ = absl::InfinitePast();  // when a short request last got rows
  absl::Time last_end_ = absl::InfinitePast();    // of the last turn that did any work
  Forecast forecast_;
  QuotaBook quotas_;
  int64_t arrivals_ = 0;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_SCHEDULER_H_
