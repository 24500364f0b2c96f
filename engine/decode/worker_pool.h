// The workers of a process, behind one door: admits a request whole or refuses it.  All workers
// take their jobs from one line (scheduler.h).  The models share the workers.  Before the line
// stands, if it is wanted, a cache of results.
//
// Thread-safe.

#ifndef DRAGOMAN_ENGINE_DECODE_WORKER_POOL_H_
#define DRAGOMAN_ENGINE_DECODE_WORKER_POOL_H_

#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "engine/decode/dispatcher.h"
#include "engine/decode/job.h"
#include "engine/decode/observer.h"
#include "engine/decode/price_list.h"
#include "engine/decode/result_cache.h"
#include "engine/decode/worker.h"

namespace dragoman {

struct WorkerPoolOptions {
  int workers = 0;                 // 0: the cores that are available / threads_per_worker
  int threads_per_worker = 1;      // that share every step of a worker
  int max_waiting_requests = 256;  // requests with a job that waits for a batch
  int max_waiting_tokens = 65536;  // source tokens of the jobs that wait
  // Live hypotheses that one worker decodes in one turn; 0: measured for each model (AddModel).
  int max_batch_rows = 0;
  int max_encode_tokens = 0;     // source tokens that it encodes then; 0: twice the rows
  size_t kv_capacity_bytes = 0;  // of all workers together; 0: a quarter of the memory
  size_t cache_bytes = 0;        // of results that are remembered (result_cache.h); 0: none are
};

// What the pool is doing now.
struct WorkerPoolStats {
  int waiting_requests = 0;
  int waiting_tokens = 0;
  int max_waiting_requests = 0;
  int max_waiting_tokens = 0;
  absl::Duration oldest_wait;    // how long the first in line has waited; 0 if nobody waits
  size_t kv_reserved_bytes = 0;  // by the sentences in the batches
  size_t kv_capacity_bytes = 0;
  size_t kv_resident_bytes = 0;  // what the workers hold of the system's memory for them
  CacheStats cache;
};

// The same with a number where a 0 asks for a default.
WorkerPoolOptions WithDefaults(WorkerPoolOptions options);

class WorkerPool {
 public:
  // Starts the threads.  `observer` must outlive the pool.
  WorkerPool(const WorkerPoolOptions& options, Observer* observer);
  // Drains.
  ~WorkerPool();

  // Prepares for a model: measures how many rows make a turn if that was not said, which takes
  // about a second.  Without it they are 64.  Returns them.
  int AddModel(const std::shared_ptr<const Model>& model);
  // What it has returned for the model of that name.
  int RowsOf(const std::string& model) const { return prices_.RowsOf(model); }

  // Takes all the jobs of one request, or none of them and says why: RESOURCE_EXHAUSTED if the line
  // is full or the principal's quota used up, DEADLINE_EXCEEDED if the deadline cannot be met,
  // INVALID_ARGUMENT if a job needs more KV memory than a worker ever has, UNAVAILABLE
  // when draining.  On an error on_done is not called and `jobs` are dropped. REQUIRES: there is at
  // least one job, and all share one RequestState.
  absl::Status Submit(std::vector<JobPtr> jobs);

  // Takes no more, finishes what was taken, and joins the threads.  Idempotent.
  void Drain();

  // Asks every worker for a turn, if only an empty one, and says for how long the slowest one has
  // owed a turn that it was asked for before: 0 while all of them live.
  absl::Duration Call(absl::Time now);

  WorkerPoolStats Stats() const;
  int workers() const { return options_.workers; }

 private:
  void TrimNowAndThen();

  const WorkerPoolOptions options_;  // without zeros
  PriceList prices_;
  Dispatcher dispatcher_;
  std::unique_ptr<ResultCache> cache_;  // null: none is wanted
  std::vector<std::unique_ptr<Worker>> workers_;
  absl::Notification drained_;
  std::thread trimmer_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_WORKER_POOL_H_
