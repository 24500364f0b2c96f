#include "server/api/document_desk.h"

#include <thread>
#include <utility>

#include "engine/base/status.h"

namespace dragoman {

DocumentDesk::DocumentDesk(const DocumentLimits& limits)
    : limits_(limits),
      places_("documents", static_cast<size_t>(limits.at_once)),
      files_("document_files", limits.disk()),
      memory_("document_memory", limits.memory) {}

absl::StatusOr<Share> DocumentDesk::Enter(const std::string& holder) {
  if (limits_.at_once == 0) return absl::UnimplementedError("this server translates no files");
  return places_.Take(holder, 1);
}

absl::StatusOr<std::shared_ptr<Spool>> DocumentDesk::NewSpool(const std::string& holder,
                                                              size_t expected) {
  if (limits_.at_once == 0) return absl::UnimplementedError("this server translates no files");
  ASSIGN_OR_RETURN(Share share, files_.Take(holder, expected));
  return Spool::New(expected, std::move(share));
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
