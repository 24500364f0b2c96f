#include "server/api/document_desk.h"

#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"

namespace dragoman {

DocumentDesk::~DocumentDesk() {
  absl::MutexLock lock(&mutex_);
  const auto left = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return inside_ == 0 && arriving_ == 0 && working_ == 0;
  };
  mutex_.Await(absl::Condition(&left));
}

absl::StatusOr<DocumentTicket> DocumentDesk::Enter() { return Take(&inside_, limits_.at_once); }

absl::StatusOr<std::shared_ptr<Spool>> DocumentDesk::Receive() {
  ASSIGN_OR_RETURN(DocumentTicket ticket, Take(&arriving_, 4 * limits_.at_once));
  ASSIGN_OR_RETURN(std::shared_ptr<Spool> spool, Spool::New(0));
  Spool* const file = spool.get();
  return std::shared_ptr<Spool>(file, [spool = std::move(spool), ticket = std::move(ticket)](
                                          Spool*) mutable { spool = nullptr; });
}

absl::StatusOr<DocumentTicket> DocumentDesk::Take(int* taken, int most) {
  absl::MutexLock lock(&mutex_);
  if (*taken >= most) {
    return limits_.at_once == 0
               ? absl::UnimplementedError("this server translates no files")
               : absl::ResourceExhaustedError(
                     absl::StrCat("the server is translating ", limits_.at_once, " files already"));
  }
  ++*taken;
  return DocumentTicket(taken, [this](const int* place) {
    absl::MutexLock leaving(&mutex_);
    --*const_cast<int*>(place);
  });
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

}  // namespace dragoman
