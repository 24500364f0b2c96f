#include "engine/decode/worker_pool.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/base/machine.h"

namespace dragoman {

WorkerPoolOptions WithDefaults(WorkerPoolOptions options) {
  if (options.workers == 0) {
    options.workers = std::max(1, AvailableCores() / options.threads_per_worker);
  }
  if (options.kv_capacity_bytes == 0) options.kv_capacity_bytes = AvailableMemory() / 4;
  return options;
}

WorkerPool::WorkerPool(const WorkerPoolOptions& options, Observer* observer)
    : options_(WithDefaults(options)),
      waiting_room_(options_.max_waiting_requests, options_.max_waiting_tokens) {
  const SchedulerLimits limits = {
      .max_rows = options_.max_batch_rows,
      .kv_capacity_bytes = options_.kv_capacity_bytes / options_.workers,
      .max_encode_tokens = options_.max_encode_tokens,
  };
  for (int i = 0; i < options_.workers; ++i) {
    workers_.push_back(std::make_unique<Worker>(i, options_.threads_per_worker, limits, absl::Now,
                                                observer, &waiting_room_));
    workers_.back()->Start();
  }
}

WorkerPool::~WorkerPool() { Drain(); }

absl::Status WorkerPool::Submit(std::vector<JobPtr> jobs) {
  DRAGOMAN_CHECK(!jobs.empty());
  const size_t capacity = options_.kv_capacity_bytes / options_.workers;
  for (const JobPtr& job : jobs) {
    if (job->KvBytes() <= capacity) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("a sentence of ", job->source.size(), " tokens with beam_size ",
                     job->options.beam_size, " and max_length ", job->options.max_length, " needs ",
                     job->KvBytes(), " bytes of keys and values, a worker has ", capacity));
  }
  absl::ReaderMutexLock lock(&mutex_);
  if (draining_) return absl::UnavailableError("the server is draining");
  RETURN_IF_ERROR(waiting_room_.Enter(jobs, absl::Now()));
  for (JobPtr& job : jobs) {
    const auto least =
        std::min_element(workers_.begin(), workers_.end(),
                         [](const auto& a, const auto& b) { return a->work() < b->work(); });
    (*least)->Submit(std::move(job));
  }
  return absl::OkStatus();
}

void WorkerPool::Drain() {
  {
    absl::MutexLock lock(&mutex_);
    if (std::exchange(draining_, true)) return;
  }
  for (const auto& worker : workers_) worker->Drain();
}

WorkerPoolStats WorkerPool::Stats() const {
  WorkerPoolStats stats;
  stats.waiting_requests = waiting_room_.requests();
  stats.waiting_tokens = waiting_room_.tokens();
  stats.oldest_wait = std::max(absl::ZeroDuration(), absl::Now() - waiting_room_.oldest());
  for (const auto& worker : workers_) stats.kv_reserved_bytes += worker->kv_bytes();
  stats.kv_capacity_bytes = options_.kv_capacity_bytes;
  return stats;
}

}  // namespace dragoman
