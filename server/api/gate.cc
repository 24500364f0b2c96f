#include "server/api/gate.h"

#include <utility>

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
  std::map<int, std::function<void()>> on_shut;
  {
    absl::MutexLock lock(&mutex_);
    shut_ = true;
    on_shut.swap(on_shut_);
  }
  for (const auto& [watch, tell] : on_shut) tell();
}

int Gate::Watch(std::function<void()> on_shut) {
  {
    absl::MutexLock lock(&mutex_);
    if (!shut_) {
      on_shut_.emplace(++watches_, std::move(on_shut));
      return watches_;
    }
  }
  on_shut();
  return 0;
}

void Gate::Unwatch(int watch) {
  absl::MutexLock lock(&mutex_);
  on_shut_.erase(watch);
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
