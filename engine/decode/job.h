// One sentence on its way through the engine: what to translate, until when, and whom to tell.
//
// The jobs of one request share a RequestState, by which they are cancelled together.  A job is
// told its result exactly once, whatever happens to it: translated, cancelled, too late, refused.

#ifndef DRAGOMAN_ENGINE_DECODE_JOB_H_
#define DRAGOMAN_ENGINE_DECODE_JOB_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "engine/decode/search_options.h"
#include "engine/model/model.h"

namespace dragoman {

// What the jobs of one request have in common.  Thread-safe.
class RequestState {
 public:
  explicit RequestState(absl::Time deadline) : deadline_(deadline) {}

  // The jobs end within one step, with CANCELLED.
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
  absl::Time deadline() const { return deadline_; }

  // OK while the work is still wanted; else CANCELLED or DEADLINE_EXCEEDED.
  absl::Status Wanted(absl::Time now) const;

 private:
  const absl::Time deadline_;
  std::atomic<bool> cancelled_ = false;
};

// How long a job spent where.
struct JobTimes {
  absl::Duration queue;   // from Submit to the batch
  absl::Duration encode;  // encoder and cross-attention keys and values, with its batch
  absl::Duration decode;  // from there to its end
  int steps = 0;          // decoder steps
};

struct JobResult {
  absl::Status status;
  std::vector<Hypothesis> hypotheses;  // best first; at least one if status is OK
  JobTimes times;
};

// Lives in one place at a time: the mail of a worker, its scheduler, or its batch.
struct Job {
  std::shared_ptr<const Model> model;
  std::shared_ptr<RequestState> request;
  std::vector<int32_t> source;  // token ids, ending in eos; never empty
  SearchOptions options;
  // The tokens that it may be translated to, ascending, each once; empty: the whole vocabulary.
  std::vector<int32_t> candidates;
  // Called exactly once, on a worker's thread.  Must not block.
  std::function<void(JobResult)> on_done;

  absl::Time submitted;  // set by WorkerPool::Submit

  // Tells on_done.  REQUIRES: called once, at the end of the job's life.
  void Finish(JobResult result);

  // The most that its sentence can become.
  SentenceShape Shape() const;

  // The memory of the network's state that the job can need at the most.
  size_t KvBytes() const;

  // The rows of a batch that it can need at the most.
  int Rows() const { return options.beam_size; }

  // How much there is to do, in row-steps, to compare the loads of workers.
  int64_t Work() const { return static_cast<int64_t>(source.size()) * Rows(); }
};

using JobPtr = std::unique_ptr<Job>;

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_JOB_H_
