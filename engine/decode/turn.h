// One turn of one worker: which of its sentences run, and which start.  scheduler.h has the order.

#ifndef DRAGOMAN_ENGINE_DECODE_TURN_H_
#define DRAGOMAN_ENGINE_DECODE_TURN_H_

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "engine/decode/fair_share.h"
#include "engine/decode/job.h"

namespace dragoman {

// What a worker has room for.
struct TurnLimits {
  // The rows of short sentences that it decodes in one turn; rows that take longer count for more.
  // Measured with 16 to 256 rows, 128 were the fastest, for a small model and a large one
  // (tests/bench/README.md).
  int rows = 128;
  int encode_tokens = 0;         // that it encodes in one turn; 0: twice the rows
  size_t kv_capacity_bytes = 0;  // for keys and values
};

// A sentence in a worker's batch.
struct Resident {
  const Job* job = nullptr;
  int stages_left = 0;  // of its encoding
  int step = 0;         // decoder steps that it has taken
  // Set by the turn: whether it takes part in it, and how many stages are encoded before.
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
  PerPriority<double> seconds;  // of the work of what runs and starts, as priced
  bool memory_short = false;    // a waiting job does not fit into the memory for keys and values
};

// What is remembered of a worker from one turn to the next.
struct WorkerState {
  // Its load after its last plan.
  double rows = 0;    // of the sentences that it holds
  bool full = false;  // it could not take the next job for lack of memory
  // Its last turn: when it began, how much work it did, as priced, and for whom.
  absl::Time began;
  double seconds = 0, short_seconds = 0;
  double used = 0;  // of its rows, as a fraction
  // How much more time than their part others have had beside short requests, and batch requests
  // beside all others; negative: less.
  double others_debt = 0, batch_debt = 0;
  absl::Time last_short = absl::InfinitePast();  // when a short request last ran
};

// The sentences of one request in a worker's batches.
struct Held {
  Flow* flow = nullptr;
  std::vector<Resident*> residents;  // in the order in which they joined
  size_t next = 0;                   // the first one without rows so far
  size_t kv_bytes = 0;               // of all of them
};

// Plans the next turn of worker number `worker`.  Charges everything to `share` at once, and writes
// what it allocates to `plan`, the residents and the worker's state.
void FillTurn(const TurnLimits& limits, FairShare* share, absl::Span<WorkerState> workers,
              int worker, absl::Span<Resident> residents, absl::Time now, TurnPlan* plan);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_TURN_H_
