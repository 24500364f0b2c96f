// Bounds the memory of finished answers that their clients have not taken yet.
//
//   Call::Admit      is there room for more answers of this holder?  If not, the call is refused
//   Exchanges        ask again when the work is done: then a call with one answer is refused
//   HeldAnswer       counts an answer from the moment it is done until the transport has sent it
//
// A holder is who reads, or does not: a principal, or the connection of an anonymous
// caller.  One whose answers fill its share gets no new work, and neither does one that holds more
// than a little while all together fill the whole.  So nobody else waits for a slow reader, and
// the answers of all take at most the whole, a little per holder, and the answers that were made at
// the moment when the bound was reached.
//
// Thread-safe.

#ifndef DRAGOMAN_SERVER_API_ANSWER_BUDGET_H_
#define DRAGOMAN_SERVER_API_ANSWER_BUDGET_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "engine/base/not_copyable.h"
#include "server/base/shared_budget.h"
#include "server/config/config.h"

namespace dragoman {

class AnswerBudget : private NotCopyable {
 public:
  explicit AnswerBudget(const AnswerLimits& limits = {}) : limits_(limits) {}

  const AnswerLimits& limits() const { return limits_; }

  // RESOURCE_EXHAUSTED (IsPrincipalLimit) if no work for this holder may begin.  One that `reads`
  // may have twice as much: a bulk call none of whose answers waits goes on, one request at a time,
  // although others of the same client stand still.
  absl::Status Check(const std::string& holder, bool reads = false) const;

  // Of all answers that wait now.
  BudgetStats Stats() const;

 private:
  friend class HeldAnswer;
  void Change(const std::string& holder, size_t before, size_t now);

  const AnswerLimits limits_;
  mutable std::atomic<int64_t> refusals_ = 0;
  mutable absl::Mutex mutex_;
  std::map<std::string, size_t> held_ ABSL_GUARDED_BY(mutex_);  // by holder; no zeros
  size_t all_ ABSL_GUARDED_BY(mutex_) = 0;
};

// The bytes of an answer, or of the part of it that waits, for as long as this lives.
class HeldAnswer : private NotCopyable {
 public:
  // `budget` must outlive it.
  HeldAnswer(AnswerBudget* budget, std::string holder)
      : budget_(budget), holder_(std::move(holder)) {}
  ~HeldAnswer() { Set(0); }

  // Not for two threads at a time.
  void Set(size_t bytes);

 private:
  AnswerBudget* const budget_;
  const std::string holder_;
  size_t bytes_ = 0;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_ANSWER_BUDGET_H_
