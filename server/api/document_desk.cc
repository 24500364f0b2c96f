#include "server/api/document_desk.h"

#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"

namespace dragoman {

absl::StatusOr<DocumentTicket> DocumentDesk::Enter() {
  return Take(inside_, limits_.at_once, "translating");
}

absl::StatusOr<DocumentTicket> DocumentDesk::Receive(bool known) {
  const int most = 4 * limits_.at_once;
  return known ? Take(arriving_, most, "receiving")
               : Take(arriving_unknown_, most, "receiving, from callers without a token,");
}

absl::StatusOr<DocumentTicket> DocumentDesk::Take(const std::shared_ptr<Places>& places, int most,
                                                  const char* does) const {
  if (limits_.at_once == 0) return absl::UnimplementedError("this server translates no files");
  if (++*places > most) {
    --*places;
    return absl::ResourceExhaustedError(
        absl::StrCat("the server is ", does, " ", most, " files already"));
  }
  return DocumentTicket(places.get(), [places](const void*) { --*places; });
}

int DocumentDesk::Watch(std::function<void(absl::Time now)> look) {
  absl::MutexLock lock(&mutex_);
  looks_.emplace(++watches_, std::move(look));
  return watches_;
}

void DocumentDesk::Unwatch(int watch) {
  absl::MutexLock lock(&mutex_);
  looks_.erase(watch);
}

void DocumentDesk::Tidy(absl::Time now) {
  std::map<int, std::function<void(absl::Time now)>> looks;
  {
    absl::MutexLock lock(&mutex_);
    looks = looks_;
  }
  for (const auto& [watch, look] : looks) look(now);
}

void DocumentDesk::Run(std::function<void()> work) {
  {
    absl::MutexLock lock(&mutex_);
    ++working_;
  }
  std::thread([this, act = std::move(work)]() mutable {
    act();
    act = nullptr;
    absl::MutexLock lock(&mutex_);
    --working_;
  }).detach();
}

void DocumentDesk::AwaitIdle() {
  absl::MutexLock lock(&mutex_);
  const auto idle = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return working_ == 0; };
  mutex_.Await(absl::Condition(&idle));
}

}  // namespace dragoman
