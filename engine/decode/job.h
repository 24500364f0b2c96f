// One sentence on its way through the engine: what to translate, by when, and whom to notify.
//
// The jobs of one request share a RequestState, through which they are cancelled together.  A job
// gets its result exactly once, whatever happens: translated, cancelled, too late, or refused.

#ifndef DRAGOMAN_ENGINE_DECODE_JOB_H_
#define DRAGOMAN_ENGINE_DECODE_JOB_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "engine/decode/priority.h"
#include "engine/decode/quota.h"
#include "engine/decode/work_times.h"
#include "engine/model/model.h"
#include "engine/search/search.h"

namespace dragoman {

// Who asks, how urgently, and how long an answer is useful.
struct RequestTerms {
  absl::Time deadline = absl::InfiniteFuture();
  std::string principal;  // its requests share its part of the capacity; "" is anonymous
  Priority priority = Priority::kInteractive;
  Quota quota;  // of the principal
};

// What the jobs of one request have in common.  Thread-safe.
//
// Only this class decides whether a request was cancelled or too late: a client hangs up when its
// deadline passes, and that is sometimes noticed a moment before the deadline passes here.
class RequestState {
 public:
  // A request that is cancelled this shortly before its deadline counts as too late.
  static constexpr absl::Duration kSlack = absl::Milliseconds(20);

  explicit RequestState(RequestTerms terms) : terms_(std::move(terms)) {}
  explicit RequestState(absl::Time deadline) : RequestState(RequestTerms{.deadline = deadline}) {}

  // The jobs end within one step.
  void Cancel(absl::Time now);

  // OK while the work is still wanted; else CANCELLED or DEADLINE_EXCEEDED.
  absl::Status Wanted(absl::Time now) const;

  const RequestTerms& terms() const { return terms_; }
  absl::Time deadline() const { return terms_.deadline; }

 private:
  const RequestTerms terms_;
  // Nanoseconds since the Unix epoch; the largest number unless cancelled.
  std::atomic<int64_t> cancelled_ = std::numeric_limits<int64_t>::max();
};

// What a job costs, as far as it is known before it runs.
struct JobCost {
  int source_tokens = 0;
  int encode_stages = 1;       // how many stages encoding its source takes
  int rows = 0;                // the most rows it has in a batch
  int steps = 0;               // expected decoder steps
  size_t kv_bytes = 0;         // the most that the network's state takes
  WorkTimes* times = nullptr;  // of its model; null: every row and every token takes 100 us

  // In rows: one row is one source token through the encoder, or one hypothesis through one decoder
  // step.  Quotas and the bounds of the queue count these, which do not depend on the machine.
  int64_t work() const { return source_tokens + int64_t{rows} * steps; }

  const WorkTimes& Times() const;
  // In seconds of a worker, besides what a step takes whatever it does: a decoder step after so
  // many others, so many stages of the encoding, and everything.
  double StepSeconds(int step) const;
  double EncodeSeconds(int stages) const;
  double Seconds() const;
  // The rows of a short sentence that take as long as its rows in that step.
  double PlainRows(int step) const { return StepSeconds(step) / Times().step.unit(); }
};

// Where a job spent its time.
struct JobTimes {
  absl::Duration queue;   // from Submit to the batch
  absl::Duration encode;  // encoder and cross-attention keys and values, with its batch
  absl::Duration decode;  // from there to its end
  int steps = 0;          // decoder steps
  int kept = 0;           // tokens of a draft that the search chose, too
};

struct JobResult {
  absl::Status status;
  std::vector<Hypothesis> hypotheses;  // best first; at least one if status is OK
  JobTimes times;
  bool reused = false;    // taken from an equal job (result_cache.h)
  bool repaired = false;  // of the two jobs of a sentence, that of the one that repairs (repair.h)
};

struct Flow;  // the scheduler's view of a request (fair_share.h)

// Owned by one place at a time: the queue or a worker's batch.
struct Job : SearchTask {
  std::shared_ptr<const Model> model;
  std::shared_ptr<RequestState> request;
  // The tokens of its shortlist, ascending and unique; empty: the whole vocabulary.
  std::vector<int32_t> shortlist;
  // What to report of its hypotheses besides (replay.h): heads of the network's attention, and this
  // many of the most likely tokens of each step.
  std::vector<AttentionHead> heads;
  int candidates = 0;
  // A guess at the translation, which makes greedy search take fewer steps and changes nothing else
  // (drafts.h).
  std::vector<int32_t> draft;
  // Above 0, the draft is kept where that is possible (repair.h): its tokens may be so much less
  // likely than the best ones, except those that attend to source tokens that are `changed` (1,
  // else 0; as many as the source has, or none).
  float draft_loss = 0.0f;
  std::vector<char> changed;
  // Whether it is a further attempt at what has entered the queue before: then there is room.
  bool has_entered = false;
  // Called exactly once, on a worker's thread.  Must not block.
  std::function<void(JobResult)> on_done;
  // Optional.  Called before on_done, on the same thread, whenever more tokens are certain to begin
  // the best translation. `stable` is all of them so far.  They are never taken back.
  std::function<void(absl::Span<const int32_t> stable)> on_stable;

  JobCost cost;          // set by Price
  absl::Time submitted;  // set by the scheduler
  Flow* flow = nullptr;  // set by the scheduler

  // Calls on_done.  REQUIRES: called once, at the end of the job's life.
  void Finish(JobResult result);

  // The most that its sentence can grow to.
  SentenceShape Shape() const;
};

using JobPtr = std::unique_ptr<Job>;

// What is known of a request before its texts are tokenized.
struct RoughSize {
  int texts = 1;
  size_t bytes = 0;  // of all texts
  int rows = 1;      // the most rows that a sentence has in a batch
};

// Computes the cost of a job whose source, search and model are set, if a translation has so many
// tokens for each source token.
void Price(double length_ratio, WorkTimes* times, Job* job);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_JOB_H_
