// The workers of a process: admits a request as a whole or refuses it.  All workers take their jobs
// from one queue (scheduler.h), and all models share the workers.  An optional cache of results
// comes before the queue.  What is to be done for a request before and after its jobs has threads
// of its own (work_threads.h) if it may take long.
//
// Thread-safe.

#ifndef DRAGOMAN_ENGINE_DECODE_WORKER_POOL_H_
#define DRAGOMAN_ENGINE_DECODE_WORKER_POOL_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "engine/base/work_threads.h"
#include "engine/decode/dispatcher.h"
#include "engine/decode/job.h"
#include "engine/decode/observer.h"
#include "engine/decode/price_list.h"
#include "engine/decode/result_cache.h"
#include "engine/decode/worker.h"

namespace dragoman {

struct WorkerPoolOptions {
  int workers = 0;                 // 0: available cores / threads_per_worker
  int threads_per_worker = 1;      // that share every step of a worker
  int max_waiting_requests = 256;  // of each priority, with a job that waits for a batch
  int max_waiting_tokens = 65536;  // of each priority, in those jobs: source tokens
  int max_batch_rows = 0;     // live hypotheses that one worker decodes in one turn; 0: TurnLimits'
  int max_encode_tokens = 0;  // source tokens that it encodes per turn; 0: twice the rows
  size_t kv_capacity_bytes = 0;  // of all workers together; 0: a quarter of the memory
  size_t cache_bytes = 0;        // of remembered results (result_cache.h); 0: no cache
  int preparing_threads = 0;     // 0: what is prepared is prepared at once
};

// What waits with one priority.
struct QueueStats {
  int requests = 0;
  int tokens = 0;
  absl::Duration oldest_wait;  // how long the first in the queue has waited; 0 if none waits
};

// What the pool is doing now.
struct WorkerPoolStats {
  PerPriority<QueueStats> queues;
  int max_waiting_requests = 0;
  int max_waiting_tokens = 0;
  size_t kv_reserved_bytes = 0;  // by the sentences in the batches
  size_t kv_capacity_bytes = 0;
  size_t kv_resident_bytes = 0;  // what the workers hold of the system's memory for this
  CacheStats cache;
};

// `options` with every 0 that stands for a default replaced.
WorkerPoolOptions WithDefaults(WorkerPoolOptions options);

class WorkerPool {
 public:
  // Starts the threads.  `observer` must outlive the pool.
  WorkerPool(const WorkerPoolOptions& options, Observer* observer);
  // Drains.
  ~WorkerPool();

  // Takes all jobs of one request, or none, and says why: RESOURCE_EXHAUSTED if the queue is full
  // or the principal's quota is used up, DEADLINE_EXCEEDED if the deadline cannot be met,
  // INVALID_ARGUMENT if a job needs more KV memory than a worker ever has, UNAVAILABLE while
  // draining.  On an error on_done is not called and `jobs` are dropped.  REQUIRES: there is at
  // least one job, and all share one RequestState.
  absl::Status Submit(std::vector<JobPtr> jobs);

  // The error with which Submit would certainly refuse a request of that rough size now, so that it
  // need not be tokenized; otherwise OK.
  absl::Status CheckAhead(const Model& model, const RequestState& request, const RoughSize& size);

  // Does what takes longer than a short request's preparing, on a thread for that; if the request
  // is not wanted any more before that, `work` is told why.  RESOURCE_EXHAUSTED if too much waits
  // for these threads.
  absl::Status Prepare(std::shared_ptr<const RequestState> request, WorkThreads::Work work);
  // Those threads; null: there are none.
  WorkThreads* preparing() { return preparing_.get(); }

  // The rows of work that the principal may still ask for at once; 0 or less: it has to wait.
  // REQUIRES: the quota is not unlimited.
  double QuotaLeft(const std::string& principal, const Quota& quota) const;

  // Takes no more jobs, finishes those it has, and joins the threads.  Idempotent.
  void Drain();

  // Asks every worker to take a turn, possibly an empty one, and returns how long the slowest one
  // has not responded to an earlier request: 0 while all of them are alive.
  absl::Duration Call(absl::Time now);

  WorkerPoolStats Stats() const;
  // The part of these statistics that a refusal needs.
  QueueStats StatsOf(Priority priority) const;
  int workers() const { return options_.workers; }
  int max_batch_rows() const { return options_.max_batch_rows; }

 private:
  void TrimNowAndThen();

  const WorkerPoolOptions options_;  // without zeros
  PriceList prices_;
  Dispatcher dispatcher_;
  std::unique_ptr<ResultCache> cache_;  // null: disabled
  std::vector<std::unique_ptr<Worker>> workers_;
  absl::Notification drained_;
  std::thread trimmer_;
  std::unique_ptr<WorkThreads> preparing_;  // null: there are none
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_WORKER_POOL_H_
