// Who waits, and who gets the next turn of a worker.  All workers share one line, from which each
// takes what it has room for.  Starts no thread, reads no clock, holds no lock.
//
// A turn of a worker has room for a number of rows.  They are given away one sentence after
// another:
//
//   1. to short requests, up to three quarters of the rows: those under way first, then those that
//      wait, in the order in which they came, but for cheap ones that overtake (fair_share.cc);
//   2. to the other interactive requests, by what they have received (fair_share.h), whether their
//      sentence is under way or begins now; if there are short ones, only a quarter of the rows, or
//      what is missing to a half: the fewer rows, the sooner comes the next turn;
//   3. to short requests, what is left;
//   4. to batch requests, what is left.
//
// A sentence under way that is given nothing pauses.  That is the whole of preemption: documents
// may fill a batch, yet the next request has its rows in the next turn, and the bytes do not
// change (the row law).  So a short request waits for the turns under way and for other short ones,
// never for a document; and documents keep a quarter of the rows, however many short requests there
// are.
//
// A request that cannot be done before its deadline, as things are (forecast.h), is refused before
// it starts, and at the door if the line is too long for it.
//
// In all of this a principal that is ahead of another that waits by more than
// FairShare::kMostLead is given nothing, so none gets far ahead of another that has work.
// fair_share.h proves by how much at the most, and tests/sim/fair_sim_test.cc watches that bound.

#ifndef DRAGOMAN_ENGINE_DECODE_SCHEDULER_H_
#define DRAGOMAN_ENGINE_DECODE_SCHEDULER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "engine/decode/fair_share.h"
#include "engine/decode/forecast.h"
#include "engine/decode/job.h"
#include "engine/decode/quota.h"

namespace dragoman {

struct SchedulerLimits {
  int workers = 1;
  size_t kv_capacity_bytes = 0;  // keys and values of one worker
  int max_waiting_requests = 256;
  int max_waiting_tokens = 65536;     // source tokens
  double max_waiting_work = 1 << 22;  // as expected (JobCost::work)
  bool forecasts = true;  // without them only passed deadlines count: to see what they are worth
};

// A sentence in a worker's batch.
struct Resident {
  const Job* job = nullptr;
  int stages_left = 0;  // of its encoding
  // Set by PlanTurn: whether the next turn steps it, and how many stages it encodes before.
  bool runs = false;
  int encode_stages = 0;
};

// A sentence that joins a worker's batch.
struct Starting {
  JobPtr job;
  int encode_stages = 0;  // how many at once; all of them, or else the first ones
};

struct TurnPlan {
  std::vector<Starting> start;                          // to be taken into the batch
  std::vector<std::pair<JobPtr, absl::Status>> refuse;  // to be told that they will not run
  bool memory_short = false;  // a job that waits finds too little memory for keys and values
};

// What waits.
struct LineStats {
  int requests = 0;                            // with a job that waits
  int tokens = 0;                              // source tokens of the jobs that wait
  double work = 0;                             // as expected
  absl::Time oldest = absl::InfiniteFuture();  // since when the first of them has waited
};

class Scheduler {
 public:
  explicit Scheduler(const SchedulerLimits& limits);
  // REQUIRES: nothing waits and nothing runs.
  ~Scheduler();

  // Lets in all the jobs of one request, which wait since `now`, or none and says why:
  // RESOURCE_EXHAUSTED if too much waits already or the principal's quota is used up,
  // DEADLINE_EXCEEDED if the deadline cannot be met behind it.  Long requests leave a quarter of
  // the line to short ones, and an empty line takes any one request.  REQUIRES: the jobs have their
  // cost, fit an idle worker's memory, and share a RequestState that was not seen before.
  absl::Status Enter(std::vector<JobPtr>* jobs, absl::Time now);

  // The next turn of a worker whose batches hold `residents`, in the order in which they joined.
  // What runs and starts is charged at once.
  TurnPlan PlanTurn(int worker, absl::Span<Resident> residents, absl::Time now);

  // A job that was started has ended, with this status.
  void OnEnd(const Job& job, const absl::Status& status);

  const FairShare& fair() const { return fair_; }
  bool line_empty() const { return since_.empty(); }
  LineStats stats() const;

 private:
  friend class SchedulerTurn;

  // How much waits.
  struct LineSize {
    double requests = 0;  // with a job that waits
    double tokens = 0;    // of their sources
    double work = 0;      // as expected
    double share = 0;     // of the rows of a turn
    void Add(const Job& job, int sign);
  };
  // What a worker carried after its last plan.
  struct WorkerLoad {
    double share = 0;   // of the rows of a turn
    bool full = false;  // it could not take the next job for want of memory
    // Of its last turn: when it began, and how much was done in it.
    absl::Time began;
    double rows = 0, used = 0;
    double encode_credit = 0;  // what may be encoded of long requests, in turns
    double saved = 0;          // what long requests did not use of their part of the last turns
  };

  absl::Status CanBeMet(const Flow& flow, absl::Time now, double work_before) const;
  double WorkBefore(const Flow& flow) const;
  absl::Status CheckRoom(const LineSize& more, bool is_short) const;
  void RefuseUnwanted(absl::Time now, TurnPlan* plan);
  JobPtr Take(Flow* flow);
  void CloseIfDone(Flow* flow);
  bool IsTurnOf(int worker, double share) const;

  const SchedulerLimits limits_;
  FairShare fair_;
  std::unordered_map<const RequestState*, std::unique_ptr<Flow>> flows_;
  std::set<Flow*, ByArrival> since_;  // those that wait
  std::array<LineSize, 2> waiting_;   // of requests that came as long ones, as short ones
  std::vector<WorkerLoad> loads_;
  absl::Time last_short_ = absl::InfinitePast();  // when one was given rows
  Forecast forecast_;
  QuotaBook quotas_;
  int64_t arrivals_ = 0;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_SCHEDULER_H_
