#include "engine/decode/dispatcher.h"

#include <algorithm>
#include <utility>

#include "engine/base/status.h"

namespace dragoman {

absl::Status Dispatcher::Enter(std::vector<JobPtr> jobs, absl::Time now) {
  absl::MutexLock lock(&mutex_);
  if (draining_) return absl::UnavailableError("the server is draining");
  return scheduler_.Enter(&jobs, now);
}

absl::Status Dispatcher::CheckAhead(const RequestTerms& terms, const CostRange& cost,
                                    absl::Time now) {
  absl::MutexLock lock(&mutex_);
  return scheduler_.CheckAhead(terms, cost, now);
}

double Dispatcher::QuotaLeft(const std::string& principal, const Quota& quota,
                             absl::Time now) const {
  absl::MutexLock lock(&mutex_);
  return scheduler_.quotas().Left(principal, quota, now);
}

bool Dispatcher::AwaitWork(int worker) {
  const auto called = [this, worker]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !scheduler_.line_empty() || called_[worker] != absl::InfiniteFuture() || draining_;
  };
  absl::MutexLock lock(&mutex_, absl::Condition(&called));
  if (!draining_ || !scheduler_.line_empty()) return true;
  called_[worker] = absl::InfiniteFuture();  // the worker ends
  return false;
}

void Dispatcher::Call(absl::Time now) {
  absl::MutexLock lock(&mutex_);
  if (draining_) return;
  for (absl::Time& called : called_) called = std::min(called, now);
}

absl::Duration Dispatcher::Silence(absl::Time now) const {
  absl::MutexLock lock(&mutex_);
  absl::Duration longest;
  for (const absl::Time called : called_) longest = std::max(longest, now - called);
  return longest;
}

TurnPlan Dispatcher::PlanTurn(int worker, absl::Span<Resident> residents, absl::Time now) {
  absl::MutexLock lock(&mutex_);
  called_[worker] = absl::InfiniteFuture();
  return scheduler_.PlanTurn(worker, residents, now);
}

void Dispatcher::OnTurnEnd(int worker, absl::Time now) {
  absl::MutexLock lock(&mutex_);
  scheduler_.OnTurnEnd(worker, now);
}

void Dispatcher::OnEnd(const Job& job, const absl::Status& status) {
  absl::MutexLock lock(&mutex_);
  scheduler_.OnEnd(job, status);
}

bool Dispatcher::Drain() {
  absl::MutexLock lock(&mutex_);
  return !std::exchange(draining_, true);
}

LineStats Dispatcher::stats(Priority priority) const {
  absl::MutexLock lock(&mutex_);
  return scheduler_.stats(priority);
}

}  // namespace dragoman
