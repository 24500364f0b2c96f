#include "server/api/document_desk.h"

#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"

namespace dragoman {

absl::StatusOr<DocumentTicket> DocumentDesk::Enter() { return Take(inside_, limits_.at_once); }

absl::StatusOr<DocumentTicket> DocumentDesk::Receive() {
  return Take(arriving_, 4 * limits_.at_once);
}

absl::StatusOr<DocumentTicket> DocumentDesk::Take(const std::shared_ptr<Places>& places,
                                                  int most) const {
  if (limits_.at_once == 0) return absl::UnimplementedError("this server translates no files");
  if (++*places > most) {
    --*places;
    return absl::ResourceExhaustedError(
        absl::StrCat("the server is translating ", limits_.at_once, " files already"));
  }
  return DocumentTicket(places.get(), [places](const void*) { --*places; });
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
