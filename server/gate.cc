#include "server/gate.h"

namespace dragoman {

absl::Status Gate::Enter() {
  absl::MutexLock lock(&mutex_);
  ++inside_;
  if (shut_) return absl::UnavailableError("the server is draining; try another one");
  return absl::OkStatus();
}

void Gate::Leave() {
  absl::MutexLock lock(&mutex_);
  --inside_;
}

void Gate::Shut() {
  absl::MutexLock lock(&mutex_);
  shut_ = true;
}

bool Gate::shut() const {
  absl::MutexLock lock(&mutex_);
  return shut_;
}

int Gate::AwaitEmpty(absl::Duration timeout) {
  absl::MutexLock lock(&mutex_);
  const auto empty = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return inside_ == 0; };
  mutex_.AwaitWithTimeout(absl::Condition(&empty), timeout);
  return inside_;
}

}  // namespace dragoman
