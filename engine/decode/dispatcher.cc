#include "engine/decode/dispatcher.h"

#include <utility>

#include "engine/base/status.h"

namespace dragoman {

absl::Status Dispatcher::Enter(std::vector<JobPtr> jobs, absl::Time now) {
  absl::MutexLock lock(&mutex_);
  if (draining_) return absl::UnavailableError("the server is draining");
  return scheduler_.Enter(&jobs, now);
}

bool Dispatcher::AwaitWork() {
  const auto called = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !scheduler_.line_empty() || draining_;
  };
  absl::MutexLock lock(&mutex_, absl::Condition(&called));
  return !scheduler_.line_empty();
}

TurnPlan Dispatcher::PlanTurn(int worker, absl::Span<Resident> residents, absl::Time now) {
  absl::MutexLock lock(&mutex_);
  return scheduler_.PlanTurn(worker, residents, now);
}

void Dispatcher::OnEnd(const Job& job, const absl::Status& status) {
  absl::MutexLock lock(&mutex_);
  scheduler_.OnEnd(job, status);
}

bool Dispatcher::Drain() {
  absl::MutexLock lock(&mutex_);
  return !std::exchange(draining_, true);
}

LineStats Dispatcher::stats() const {
  absl::MutexLock lock(&mutex_);
  return scheduler_.stats();
}

}  // namespace dragoman
