#include "server/base/work_threads.h"

#include <utility>

namespace dragoman {

WorkThreads::WorkThreads(int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Serve(); });
}

WorkThreads::~WorkThreads() {
  {
    absl::MutexLock lock(&mutex_);
    ends_ = true;
  }
  for (std::thread& thread : threads_) thread.join();
}

absl::Status WorkThreads::Run(const std::string& principal, std::function<void()> work) {
  absl::MutexLock lock(&mutex_);
  std::deque<std::function<void()>>& own = work_[principal];
  if (waiting_ >= kMostWaiting || own.size() >= kMostOfPrincipal) {
    return absl::ResourceExhaustedError("too many requests wait for the store");
  }
  if (own.empty()) turns_.push_back(principal);
  own.push_back(std::move(work));
  ++waiting_;
  return absl::OkStatus();
}

void WorkThreads::Serve() {
  while (true) {
    std::function<void()> work;
    {
      absl::MutexLock lock(&mutex_);
      const auto may_go_on = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        return ends_ || waiting_ > 0;
      };
      mutex_.Await(absl::Condition(&may_go_on));
      if (waiting_ == 0) return;
      const std::string principal = std::move(turns_.front());
      turns_.pop_front();
      const auto own = work_.find(principal);
      work = std::move(own->second.front());
      own->second.pop_front();
      --waiting_;
      if (own->second.empty()) {
        work_.erase(own);
      } else {
        turns_.push_back(principal);
      }
    }
    work();
  }
}

}  // namespace dragoman
