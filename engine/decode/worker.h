// One thread, or a team of them, and a batch for every model that it has work for.  Each turn: take
// the mail, drop what nobody wants any more, admit who fits, step every batch.
//
// In production a thread of its own takes the turns (Start); in a simulation the test does.

#ifndef DRAGOMAN_ENGINE_DECODE_WORKER_H_
#define DRAGOMAN_ENGINE_DECODE_WORKER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "engine/base/clock.h"
#include "engine/decode/decode_batch.h"
#include "engine/decode/job.h"
#include "engine/decode/observer.h"
#include "engine/decode/scheduler.h"
#include "engine/decode/waiting_room.h"

namespace dragoman {

class Worker : private Observer {
 public:
  // `index` is the number that `observer` is told, `threads` how many share its steps.  `observer`
  // and `waiting_room` must outlive the worker; jobs leave the waiting room when they join a batch
  // or are dropped.
  Worker(int index, int threads, const SchedulerLimits& limits, const Clock& clock,
         Observer* observer, WaitingRoom* waiting_room);
  // REQUIRES: drained, or never started and without work.
  ~Worker() override;

  // Puts a job into the mail.  Thread-safe; the mail is bounded by the waiting room.
  // REQUIRES: the job entered the waiting room and fits the limits' KV memory; not after Drain.
  void Submit(JobPtr job);

  // The work of all jobs that are not done.  Thread-safe.
  int64_t work() const { return work_.load(std::memory_order_relaxed); }
  // What the sentences in the batches have reserved.  Thread-safe.
  size_t kv_bytes() const { return kv_bytes_.load(std::memory_order_relaxed); }

  // Starts the thread that takes the turns.
  void Start();
  // Finishes all the work and ends the thread.
  void Drain();

  // Takes one turn; false if there was nothing to do.  Only where Start has not been called.
  bool Turn();

 private:
  // A batch's news on their way to the real observer.
  void OnEncode(const Model& model, int sentences, int tokens, absl::Duration took) override;
  void OnDecodeStep(const Model& model, int sentences, int rows, absl::Duration took) override;
  void OnBusy(int worker, absl::Duration took) override;
  void OnJobDone(const Job& job, const JobResult& result) override;

  void Run();
  bool idle() const { return scheduler_.empty() && batches_.empty(); }
  void TakeMail();
  void DropUnwanted();
  void Admit();
  BatchLoad load() const;

  const int index_;
  const Clock clock_;
  Observer* const observer_;
  WaitingRoom* const waiting_room_;
  std::atomic<int64_t> work_ = 0;
  std::atomic<size_t> kv_bytes_ = 0;

  absl::Mutex mutex_;
  std::vector<JobPtr> mail_ ABSL_GUARDED_BY(mutex_);
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;

  // Only of the thread that takes the turns.
  Scheduler scheduler_;
  DecodeScratch scratch_;
  std::vector<std::pair<const Model*, std::unique_ptr<DecodeBatch>>> batches_;  // none is empty

  std::thread thread_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_WORKER_H_
