// The waiting line of one worker, and who goes next.  Starts no thread and reads no clock.
//
// First come, first served, without exception: a job that does not fit yet holds the line, so that
// small ones behind it cannot keep it waiting for ever.

#ifndef DRAGOMAN_ENGINE_DECODE_SCHEDULER_H_
#define DRAGOMAN_ENGINE_DECODE_SCHEDULER_H_

#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "engine/decode/decode_batch.h"
#include "engine/decode/job.h"

namespace dragoman {

// What a worker can carry.
struct SchedulerLimits {
  int max_rows = 256;            // live hypotheses
  size_t kv_capacity_bytes = 0;  // keys and values
  int max_encode_tokens = 1024;  // source tokens that join between two steps
};

class Scheduler {
 public:
  explicit Scheduler(const SchedulerLimits& limits) : limits_(limits) {}

  // REQUIRES: the job fits an idle worker's KV memory.
  void Enqueue(JobPtr job);

  // Takes from the front of the line what can join a worker that carries `running`: as long as
  // rows, KV memory and the tokens of this turn suffice.  An idle worker takes at least one.
  std::vector<JobPtr> Admit(const BatchLoad& running);

  // Takes out the jobs that are cancelled or too late, each with the reason.
  std::vector<std::pair<JobPtr, absl::Status>> TakeUnwanted(absl::Time now);

  bool empty() const { return line_.empty(); }

 private:
  const SchedulerLimits limits_;
  std::deque<JobPtr> line_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_SCHEDULER_H_
