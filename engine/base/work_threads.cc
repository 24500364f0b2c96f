#include "engine/base/work_threads.h"

#include <algorithm>
#include <utility>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "engine/base/status.h"

namespace dragoman {

WorkThreads::WorkThreads(int threads, const char* what)
    : what_(what), most_running_(static_cast<size_t>(std::max(threads - 1, 1))) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Serve(); });
  threads_.emplace_back([this] { EndUnwanted(); });
}

WorkThreads::~WorkThreads() {
  {
    absl::MutexLock lock(&mutex_);
    ends_ = true;
  }
  for (std::thread& thread : threads_) thread.join();
}

absl::Status WorkThreads::Run(const std::string& principal, std::function<void()> work) {
  return Run(principal, nullptr, [work = std::move(work)](const absl::Status&) { work(); });
}

absl::Status WorkThreads::Run(const std::string& principal, Wanted wanted, Work work) {
  absl::MutexLock lock(&mutex_);
  const auto [account, is_new] = accounts_.try_emplace(principal);
  std::deque<Piece>& own = account->second.work;
  if (waiting_ >= kMostWaiting || own.size() >= kMostOfPrincipal) {
    if (is_new) accounts_.erase(account);
    return ResourceExhaustedError("too many requests wait ", what_);
  }
  if (own.empty() && account->second.running == 0) {
    account->second.seconds = std::max(account->second.seconds, now_);
  }
  own.push_back({std::move(wanted), std::move(work)});
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

void WorkThreads::Charge(Accounts::iterator account, double seconds) {
  account->second.seconds += seconds;
  --account->second.running;
  --running_;
  DropIdle();
}

// An account is kept as long as it says that its principal has had more than others.
void WorkThreads::DropIdle() {
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
    Piece piece = std::move(account->second.work.front());
    account->second.work.pop_front();
    ++account->second.running;
    --waiting_;
    ++running_;
    now_ = account->second.seconds;
    mutex_.Unlock();
    const absl::Time start = absl::Now();
    piece.work(piece.wanted == nullptr ? absl::OkStatus() : piece.wanted(start));
    piece = {};
    const double seconds = absl::ToDoubleSeconds(absl::Now() - start);
    mutex_.Lock();
    Charge(account, seconds);
  }
}

void WorkThreads::EndUnwanted() {
  mutex_.Lock();
  while (true) {
    const auto waits = [this]()
                           ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return ends_ || waiting_ > 0; };
    mutex_.Await(absl::Condition(&waits));
    const auto ends = [this]()
                          ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return ends_ && waiting_ == 0; };
    if (mutex_.AwaitWithTimeout(absl::Condition(&ends), kBetweenLooks)) return mutex_.Unlock();
    const absl::Time now = absl::Now();
    std::vector<std::pair<Piece, absl::Status>> unwanted;
    for (auto& [principal, account] : accounts_) {
      for (auto piece = account.work.begin(); piece != account.work.end();) {
        absl::Status status = piece->wanted == nullptr ? absl::OkStatus() : piece->wanted(now);
        if (status.ok()) {
          ++piece;
          continue;
        }
        unwanted.emplace_back(std::move(*piece), std::move(status));
        piece = account.work.erase(piece);
      }
    }
    if (unwanted.empty()) continue;
    waiting_ -= unwanted.size();
    DropIdle();
    mutex_.Unlock();
    for (const auto& [piece, status] : unwanted) piece.work(status);
    unwanted.clear();
    mutex_.Lock();
  }
}

// A thread of `threads` stands still for as long as the turn lasts.
struct WorkTurn::Piece {
  absl::Status wanted;
  absl::Notification begun, ended;
};

absl::Status WorkTurn::Begin() {
  if (threads_ == nullptr) return absl::OkStatus();
  const auto piece = std::make_shared<Piece>();
  const auto stand = [piece](const absl::Status& wanted) {
    piece->wanted = wanted;
    piece->begun.Notify();
    if (wanted.ok()) piece->ended.WaitForNotification();
  };
  while (!threads_->Run(principal_, wanted_, stand).ok()) {  // too much waits
    RETURN_IF_ERROR(wanted_(absl::Now()));
    absl::SleepFor(kLongest);
  }
  piece->begun.WaitForNotification();
  RETURN_IF_ERROR(piece->wanted);
  piece_ = piece;
  over_ = absl::Now() + kLongest;
  return absl::OkStatus();
}

absl::Status WorkTurn::Continue() {
  if (piece_ == nullptr || absl::Now() < over_) return absl::OkStatus();
  End();
  return Begin();
}

void WorkTurn::End() {
  if (piece_ != nullptr) std::exchange(piece_, nullptr)->ended.Notify();
}

}  // namespace dragoman
