// One turn of one worker: allocates its rows (scheduler.h has the order).  Part of Scheduler.

#ifndef DRAGOMAN_ENGINE_DECODE_SCHEDULER_TURN_H_
#define DRAGOMAN_ENGINE_DECODE_SCHEDULER_TURN_H_

#include <set>
#include <vector>

#include "engine/decode/scheduler.h"

namespace dragoman {

class SchedulerTurn {
 public:
  SchedulerTurn(Scheduler* scheduler, int worker, absl::Span<Resident> residents, absl::Time now,
                TurnPlan* plan);

  void Plan();

 private:
  // The sentences of one flow in this worker's batches.
  struct Local {
    Flow* flow = nullptr;
    std::vector<Resident*> residents;  // in the order in which they joined
    size_t next = 0;                   // the first one without rows so far
    size_t kv_bytes = 0;               // of all of them
    double share = 0;                  // likewise
    bool pausing() const { return next < residents.size(); }
  };

  Local& LocalOf(Flow* flow);
  void RunShort(double most_rows);
  void StartShort(double most_rows);
  void RunByTime(Priority priority, double most_rows);
  double RunOwedBatch();
  void OweBatch(double got);
  double MostRowsOfOthers() const;
  double QuickPart() const;
  bool IsInTime(const Account& account) const;
  const Account* Furthest(Priority priority);
  bool GoOn(const Account& account, Priority priority, double most_rows);
  bool Run(Local* local, double most_rows);
  bool Start(Flow* flow, double most_rows);
  int GrantStages(const Flow& flow, const JobCost& cost, int stages_left);
  bool OnCredit(const Flow& flow) const;
  void Serve(Flow* flow, double work);
  static double TokensOf(const JobCost& cost, int stages);
  bool HasMemory(Flow* flow, const JobCost& cost);
  double CarriedFor(const Account& account) const;
  bool HasRoom(double share, double most_rows) const;
  Flow* Next(const Account& account) const;
  bool MayRun(const Account& account) const;
  bool MayStart(const Account& account) const;
  bool InClass(const Flow& flow, Priority priority) const;
  // The first one that may start; null if there is none.
  Flow* First(const auto& waiting) const;

  Scheduler* const scheduler_;
  const int worker_;
  const absl::Time now_;
  TurnPlan* const plan_;
  std::vector<Local> locals_;      // in order of the requests' arrival
  std::set<const Flow*> skipped_;  // that have too much here to start another sentence
  double used_ = 0;                // of the turn's rows
  double carried_ = 0;             // the share of everything that is here
  size_t kv_bytes_ = 0;
  double encoded_ = 0;       // of the turn's source tokens
  bool divided_ = false;     // a sentence that does not fit into a turn has got some of them
  bool quick_ = false;       // short requests are in progress, or were recently
  double quick_part_ = 1;    // the share of the turn of which others get a part meanwhile
  bool short_runs_ = false;  // a short request got rows, before any other
  bool others_run_ = false;  // another request got some
  bool starting_ = true;     // whether this worker still takes from the queue
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_SCHEDULER_TURN_H_
