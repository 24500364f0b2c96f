// A thread, or a team of threads, with one batch for every model that it has work for.  In each
// turn it drops sentences that are no longer wanted, asks the dispatcher which ones run and which
// start, encodes those that start, and steps those that run.
//
// In production its own thread takes the turns (Start); in a simulation the test does.

#ifndef DRAGOMAN_ENGINE_DECODE_WORKER_H_
#define DRAGOMAN_ENGINE_DECODE_WORKER_H_

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/clock.h"
#include "engine/decode/decode_batch.h"
#include "engine/decode/dispatcher.h"
#include "engine/decode/job.h"
#include "engine/decode/observer.h"
#include "engine/decode/price_list.h"

namespace dragoman {

class Worker {
 public:
  // `index` identifies it to `observer` and `dispatcher`; `threads` share its steps.  The others
  // must outlive the worker.
  Worker(int index, int threads, const Clock& clock, Observer* observer, Dispatcher* dispatcher,
         PriceList* prices);
  // REQUIRES: joined, or never started and without work.
  ~Worker();

  // What the sentences in the batches have reserved.  Thread-safe.
  size_t kv_bytes() const { return kv_bytes_.load(std::memory_order_relaxed); }
  // The memory for keys and values.  Thread-safe.
  KvPool& kv_pool() { return scratch_.kv_pool; }

  // Starts the thread that takes turns until the dispatcher is drained and its queue empty.
  void Start();
  void Join();

  // Takes one turn; false if there was nothing to do.  Only if Start was not called.
  bool Turn();

 private:
  void Run();
  void Refuse(std::vector<std::pair<JobPtr, absl::Status>> jobs);
  void Begin(std::vector<Starting> starting);
  void End(Job* job, JobResult result);
  DecodeBatch* BatchOf(const std::shared_ptr<const Model>& model);
  void CountMemory();

  const int index_;
  const Clock clock_;
  Observer* const observer_;
  Dispatcher* const dispatcher_;
  PriceList* const prices_;
  std::atomic<size_t> kv_bytes_ = 0;

  // Used only by the thread that takes the turns.
  DecodeScratch scratch_;
  std::vector<std::pair<const Model*, std::unique_ptr<DecodeBatch>>> batches_;  // none is empty
  std::vector<Resident> residents_;

  std::thread thread_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_WORKER_H_
