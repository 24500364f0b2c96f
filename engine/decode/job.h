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
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "engine/decode/quota.h"
#include "engine/model/model.h"
#include "engine/search/search.h"

namespace dragoman {

// Interactive work goes first; batch work fills the gaps that it leaves.
enum class Priority { kInteractive, kBatch };

// Who asks, how urgently, and until when an answer is of use.
struct RequestTerms {
  absl::Time deadline = absl::InfiniteFuture();
  std::string principal;  // requests of one principal share its part; "" is anybody
  Priority priority = Priority::kInteractive;
  Quota quota;  // of the principal
};

// What the jobs of one request have in common.  Thread-safe.
//
// Whether a request was cancelled or came too late is decided here and nowhere else: a client whose
// deadline passes hangs up, and is sometimes heard a moment before the deadline passes here.
class RequestState {
 public:
  // A request that is cancelled this shortly before its deadline counts as too late.
  static constexpr absl::Duration kSlack = absl::Milliseconds(20);

  explicit RequestState(RequestTerms terms) : terms_(std::move(terms)) {}
  // Of a part of another request that is scheduled by itself, and wanted as long as the whole is.
  explicit RequestState(std::shared_ptr<const RequestState> whole)
      : terms_(whole->terms_), whole_(std::move(whole)) {}
  explicit RequestState(absl::Time deadline) : RequestState(RequestTerms{.deadline = deadline}) {}

  // The jobs end within one step.
  void Cancel(absl::Time now);

  // OK while the work is still wanted; else CANCELLED or DEADLINE_EXCEEDED.
  absl::Status Wanted(absl::Time now) const;

  const RequestTerms& terms() const { return terms_; }
  absl::Time deadline() const { return terms_.deadline; }

 private:
  const RequestTerms terms_;
  const std::shared_ptr<const RequestState> whole_;  // null: it is no part
  // Nanoseconds since the Unix epoch; the far future while nobody cancelled.
  std::atomic<int64_t> cancelled_ = std::numeric_limits<int64_t>::max();
};

// What a job costs, as far as that is known before it runs.  Work is counted in rows: one row is
// one source token through the encoder or one hypothesis through one decoder step.
struct JobCost {
  int source_tokens = 0;
  int encode_stages = 1;    // in which its source can be encoded
  int rows = 0;             // of a batch, at the most
  int steps = 0;            // decoder steps, as expected
  size_t kv_bytes = 0;      // of the network's state, at the most
  double turn_share = 0;    // of the rows that its worker decodes in one turn
  double encode_share = 0;  // likewise, of the source tokens that it encodes

  int64_t work() const { return source_tokens + int64_t{rows} * steps; }
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
  bool reused = false;  // of a job that was equal to this one (result_cache.h)
};

struct Flow;  // what the scheduler knows of a request (fair_share.h)

// Lives in one place at a time: the line or a worker's batch.
struct Job : SearchTask {
  std::shared_ptr<const Model> model;
  std::shared_ptr<RequestState> request;
  // The tokens that it may be translated to, ascending and unique; empty: the whole vocabulary.
  std::vector<int32_t> candidates;
  // Called exactly once, on a worker's thread.  Must not block.
  std::function<void(JobResult)> on_done;
  // If set, called before that, likewise, whenever it is certain of more tokens how the translation
  // that comes first will begin: with all of them, which are never taken back.
  std::function<void(absl::Span<const int32_t> stable)> on_stable;

  JobCost cost;          // set by Price
  absl::Time submitted;  // set by the scheduler
  Flow* flow = nullptr;  // likewise

  // Tells on_done.  REQUIRES: called once, at the end of the job's life.
  void Finish(JobResult result);

  // The most that its sentence can become.
  SentenceShape Shape() const;
};

using JobPtr = std::unique_ptr<Job>;

// How a model's sentences are priced.
struct Pricing {
  int turn_rows = 64;          // that a worker decodes in one turn
  int max_encode_tokens = 0;   // that a worker encodes in one turn; 0: twice the rows
  double length_ratio = 1.25;  // steps for each source token, as expected

  int turn_tokens() const { return max_encode_tokens > 0 ? max_encode_tokens : 2 * turn_rows; }
};

// Computes the cost of a job whose source, search and model are set.
void Price(const Pricing& pricing, Job* job);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_JOB_H_
