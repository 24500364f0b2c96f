// Something of which there is a limited amount, bytes of memory or places, shared by holders who do
// not know each other.
//
//   SharedBudget budget("documents", 512 << 20);
//   // Returned when it is destroyed.
//   ASSIGN_OR_RETURN(Share share, budget.Take("alice", 48 << 20));
//
// A holder may take more if its new total is at most what would remain free (dynamic thresholds:
// Choudhury and Hahne, 1998).  So one alone gets half, two that grow together a third each, and a
// newcomer finds something, were it the last place.  Of 8 places:
//
//   alice has 4: her next is refused, because she would have 5, and 3 were left
//   bob comes:   2, which leaves 2
//
// A holder is a principal or, without one, an address (HolderOf).
//
// Thread-safe.

#ifndef DRAGOMAN_SERVER_BASE_SHARED_BUDGET_H_
#define DRAGOMAN_SERVER_BASE_SHARED_BUDGET_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "engine/base/not_copyable.h"

namespace dragoman {

class SharedBudget;

// A held part of a budget.  The budget must outlive it.
class Share {
 public:
  Share() = default;
  Share(Share&& other) noexcept { *this = std::move(other); }
  Share& operator=(Share&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(holder_, other.holder_);
    std::swap(amount_, other.amount_);
    return *this;
  }
  ~Share() { Return(); }

  // Raises it to at least `amount`; on RESOURCE_EXHAUSTED it is unchanged.  REQUIRES: from Take.
  absl::Status Raise(size_t amount);
  void Return();
  size_t amount() const { return amount_; }

 private:
  friend class SharedBudget;
  SharedBudget* budget_ = nullptr;
  std::string holder_;
  size_t amount_ = 0;
};

// One budget's metrics.
struct BudgetStats {
  const char* name = "";
  size_t used = 0, limit = 0;
  int64_t refusals = 0;
};

// RESOURCE_EXHAUSTED: a budget that is not shared by holders has no room for so much more.
absl::Status NoRoom(const BudgetStats& budget, size_t wanted);

class SharedBudget : private NotCopyable {
 public:
  // `name`: a literal, used in metrics.
  SharedBudget(const char* name, size_t limit) : name_(name), limit_(limit) {}

  // RESOURCE_EXHAUSTED if this holder cannot have that much now.
  absl::StatusOr<Share> Take(const std::string& holder, size_t amount);

  // What a holder can have at most.
  size_t most() const { return limit_ / 2; }

  BudgetStats Stats() const;

  // The law: whether `amount` more may be taken by who has `held` of the `used` ones.
  static bool Fits(size_t limit, size_t used, size_t held, size_t amount) {
    const size_t left = limit - std::min(used, limit);
    return amount <= left && held + amount <= std::max<size_t>(left - amount, 1);
  }

 private:
  friend class Share;
  absl::Status Add(const std::string& holder, size_t amount);
  void Subtract(const std::string& holder, size_t amount);

  const char* const name_;
  const size_t limit_;
  mutable absl::Mutex mutex_;
  std::map<std::string, size_t> held_ ABSL_GUARDED_BY(mutex_);  // no zeros
  size_t used_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t refusals_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_BASE_SHARED_BUDGET_H_
