// Bounds the memory of finished answers that their clients have not taken yet.
//
//   Call::Admit      is there room for more answers of this holder?  If not, the call is refused
//   Exchanges        ask again when the work is done: then a call with one answer is refused
//   HeldAnswer       counts an answer from the moment it is done until the transport has sent it
//
// A holder is who reads, or does not: a principal or, without one, an address (HolderOf).  One
// whose answers fill its share gets no new work, and neither does one that holds more than a little
// while all together fill the whole.  So nobody else waits for a slow reader, and the answers of
// all take at most the whole, a little per holder, and the answers that were made at the moment
// when the bound was reached.  A connection on which no answer waits may fill a second share:
// behind a proxy or a program that many use, a slow reader does not stop the others.
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

struct AnswerReader {
  std::string holder, connection;
};

class AnswerBudget : private NotCopyable {
 public:
  explicit AnswerBudget(const AnswerLimits& limits = {}) : limits_(limits) {}

  const AnswerLimits& limits() const { return limits_; }

  // RESOURCE_EXHAUSTED (IsPrincipalLimit) if no work for this reader may begin.  One that `reads`
  // may have twice as much: a bulk call none of whose answers waits goes on, one request at a time,
  // although others of the same client stand still.
  absl::Status Check(const AnswerReader& reader, bool reads = false) const;

  // Of all answers that wait now.
  BudgetStats Stats() const;

 private:
  friend class HeldAnswer;
  void Change(const AnswerReader& reader, size_t before, size_t now);

  const AnswerLimits limits_;
  mutable std::atomic<int64_t> refusals_ = 0;
  mutable absl::Mutex mutex_;
  std::map<std::string, size_t> held_ ABSL_GUARDED_BY(mutex_);       // by holder; no zeros
  std::map<std::string, size_t> connected_ ABSL_GUARDED_BY(mutex_);  // by connection; no zeros
  size_t all_ ABSL_GUARDED_BY(mutex_) = 0;
};

// The bytes of an answer, or of the part of it that waits, for as long as this lives.
class HeldAnswer : private NotCopyable {
 public:
  // `budget` must outlive it.
  HeldAnswer(AnswerBudget* budget, AnswerReader reader)
      : budget_(budget), reader_(std::move(reader)) {}
  ~HeldAnswer() { Set(0); }

  // Not for two threads at a time.
  void Set(size_t bytes);

 private:
  AnswerBudget* const budget_;
  const AnswerReader reader_;
  size_t bytes_ = 0;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_ANSWER_BUDGET_H_
