#include "engine/base/work_threads.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace dragoman {

WorkThreads::WorkThreads(int threads, const char* what)
    : what_(what), most_running_(static_cast<size_t>(std::max(threads - 1, 1))) {
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
  const auto [account, is_new] = accounts_.try_emplace(principal);
  std::deque<std::function<void()>>& own = account->second.work;
  if (waiting_ >= kMostWaiting || own.size() >= kMostOfPrincipal) {
    if (is_new) accounts_.erase(account);
    return absl::ResourceExhaustedError(absl::StrCat("too many requests wait ", what_));
  }
  if (own.empty() && account->second.running == 0) {
    account->second.seconds = std::max(account->second.seconds, now_);
  }
  own.push_back(std::move(work));
  ++waiting_;
  return absl::OkStatus();
}

WorkThreads::Accounts::iterator WorkThreads::Next() {
  auto next = accounts_.end();
  for (auto account = accounts_.begin(); account != accounts_.end(); ++account) {
    const Account& its = account->second;
    if (its.work.empty() || its.running == most_running_) continue;
    if (next == accounts_.end() || its.seconds < next->second.seconds) next = account;
  }
  return next;
}

// An account is kept as long as it says that its principal has had more than others.
void WorkThreads::Charge(Accounts::iterator account, double seconds) {
  account->second.seconds += seconds;
  --account->second.running;
  --running_;
  if (waiting_ == 0 && running_ == 0) return accounts_.clear();
  std::erase_if(accounts_, [this](const auto& each) {
    const Account& its = each.second;
    return its.work.empty() && its.running == 0 && its.seconds <= now_;
  });
}

void WorkThreads::Serve() {
  mutex_.Lock();
  while (true) {
    const auto may_go_on = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return (ends_ && waiting_ == 0) || Next() != accounts_.end();
    };
    mutex_.Await(absl::Condition(&may_go_on));
    if (waiting_ == 0) return mutex_.Unlock();
    const auto account = Next();
    std::function<void()> work = std::move(account->second.work.front());
    account->second.work.pop_front();
    ++account->second.running;
    --waiting_;
    ++running_;
    now_ = account->second.seconds;
    mutex_.Unlock();
    const absl::Time start = absl::Now();
    work();
    work = nullptr;
    const double seconds = absl::ToDoubleSeconds(absl::Now() - start);
    mutex_.Lock();
    Charge(account, seconds);
  }
}

}  // namespace dragoman
