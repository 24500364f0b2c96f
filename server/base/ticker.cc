#include "server/base/ticker.h"

#include <utility>

#include "absl/time/clock.h"
#include "engine/base/end_thread.h"

namespace dragoman {

Ticker::Ticker() : thread_([this] { Run(); }) {}

Ticker::~Ticker() { EndThread(&mutex_, &ends_, &thread_); }

int Ticker::Watch(Look look) {
  absl::MutexLock lock(&mutex_);
  looks_.emplace(++watches_, std::move(look));
  return watches_;
}

void Ticker::Unwatch(int watch) {
  absl::MutexLock lock(&mutex_);
  looks_.erase(watch);
}

void Ticker::Tick(absl::Time now) {
  std::map<int, Look> looks;
  {
    absl::MutexLock lock(&mutex_);
    looks = looks_;
  }
  for (const auto& [watch, look] : looks) look(now);
}

void Ticker::Run() {
  const auto wanted = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return ends_ || !looks_.empty();
  };
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(&wanted));
      if (mutex_.AwaitWithTimeout(absl::Condition(&ends_), kInterval)) return;
    }
    Tick(absl::Now());
  }
}

}  // namespace dragoman
