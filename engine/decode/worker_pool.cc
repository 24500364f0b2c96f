#include "engine/decode/worker_pool.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "engine/base/machine.h"
#include "engine/base/status.h"

namespace dragoman {

WorkerPoolOptions WithDefaults(WorkerPoolOptions options) {
  if (options.workers == 0) {
    options.workers = std::max(1, AvailableCores() / options.threads_per_worker);
  }
  if (options.max_batch_rows == 0) options.max_batch_rows = TurnLimits().rows;
  if (options.kv_capacity_bytes == 0) options.kv_capacity_bytes = AvailableMemory() / 4;
  return options;
}

WorkerPool::WorkerPool(const WorkerPoolOptions& options, Observer* observer)
    : options_(WithDefaults(options)),
      dispatcher_({.workers = options_.workers,
                   .turn = {.rows = options_.max_batch_rows,
                            .encode_tokens = options_.max_encode_tokens,
                            .kv_capacity_bytes = options_.kv_capacity_bytes / options_.workers},
                   .max_waiting_requests = options_.max_waiting_requests,
                   .max_waiting_tokens = options_.max_waiting_tokens}) {
  if (options_.cache_bytes > 0) {
    cache_ = std::make_unique<ResultCache>(
        CacheOptions{.capacity_bytes = options_.cache_bytes,
                     .max_following_tokens = options_.max_waiting_tokens},
        [this](std::vector<JobPtr> jobs) {
          return dispatcher_.Enter(std::move(jobs), absl::Now());
        });
  }
  for (int i = 0; i < options_.workers; ++i) {
    workers_.push_back(std::make_unique<Worker>(i, options_.threads_per_worker, absl::Now, observer,
                                                &dispatcher_, &prices_));
    workers_.back()->Start();
  }
  trimmer_ = std::thread([this] { TrimNowAndThen(); });
  if (options_.preparing_threads > 0) {
    preparing_ = std::make_unique<WorkThreads>(options_.preparing_threads, "to be prepared");
  }
}

WorkerPool::~WorkerPool() { Drain(); }

absl::Status WorkerPool::Submit(std::vector<JobPtr> jobs) {
  DRAGOMAN_CHECK(!jobs.empty());
  const size_t capacity = options_.kv_capacity_bytes / options_.workers;
  for (const JobPtr& job : jobs) {
    prices_.Price(job.get());
    const JobCost& cost = job->cost;
    if (cost.kv_bytes <= capacity) continue;
    return InvalidArgumentError("a sentence of ", cost.source_tokens, " tokens with beam_size ",
                                cost.rows, " and max_length ", job->options.max_length, " needs ",
                                cost.kv_bytes, " bytes of keys and values, a worker has ",
                                capacity);
  }
  if (cache_ != nullptr) return cache_->Submit(std::move(jobs));
  return dispatcher_.Enter(std::move(jobs), absl::Now());
}

absl::Status WorkerPool::CheckAhead(const Model& model, const RequestState& request,
                                    const RoughSize& size) {
  if (cache_ != nullptr) return absl::OkStatus();  // it may have the answer
  return dispatcher_.CheckAhead(request.terms(), prices_.RangeOf(model.name(), size), absl::Now());
}

absl::Status WorkerPool::Prepare(std::shared_ptr<const RequestState> request,
                                 WorkThreads::Work work) {
  if (preparing_ == nullptr) {
    work(absl::OkStatus());
    return absl::OkStatus();
  }
  return preparing_->Run(
      request->terms().principal, [request](absl::Time now) { return request->Wanted(now); },
      std::move(work));
}

double WorkerPool::QuotaLeft(const std::string& principal, const Quota& quota) const {
  return dispatcher_.QuotaLeft(principal, quota, absl::Now());
}

void WorkerPool::Drain() {
  if (!dispatcher_.Drain()) return;
  for (const auto& worker : workers_) worker->Join();
  drained_.Notify();
  trimmer_.join();
}

// Returns the memory of a burst when it is over.
void WorkerPool::TrimNowAndThen() {
  constexpr absl::Duration kInterval = absl::Seconds(5);
  while (!drained_.WaitForNotificationWithTimeout(kInterval)) {
    for (const auto& worker : workers_) worker->kv_pool().Trim();
  }
}

absl::Duration WorkerPool::Call(absl::Time now) {
  const absl::Duration silence = dispatcher_.Silence(now);
  dispatcher_.Call(now);
  return silence;
}

QueueStats WorkerPool::StatsOf(Priority priority) const {
  const LineStats line = dispatcher_.stats(priority);
  return {.requests = line.requests,
          .tokens = line.tokens,
          .oldest_wait = std::max(absl::ZeroDuration(), absl::Now() - line.oldest)};
}

WorkerPoolStats WorkerPool::Stats() const {
  WorkerPoolStats stats;
  for (const Priority priority : kPriorities) stats.queues[priority] = StatsOf(priority);
  stats.max_waiting_requests = options_.max_waiting_requests;
  stats.max_waiting_tokens = options_.max_waiting_tokens;
  for (const auto& worker : workers_) {
    stats.kv_reserved_bytes += worker->kv_bytes();
    stats.kv_resident_bytes += worker->kv_pool().resident_bytes();
  }
  stats.kv_capacity_bytes = options_.kv_capacity_bytes;
  if (cache_ != nullptr) stats.cache = cache_->stats();
  return stats;
}

}  // namespace dragoman
