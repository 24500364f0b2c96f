#include "engine/decode/waiting_room.h"

#include "absl/strings/str_cat.h"

namespace dragoman {

absl::Status WaitingRoom::Enter(const std::vector<JobPtr>& jobs, absl::Time now) {
  int tokens = 0;
  for (const JobPtr& job : jobs) tokens += static_cast<int>(job->source.size());

  absl::MutexLock lock(&mutex_);
  if (static_cast<int>(jobs_.size()) >= max_requests_) {
    return absl::ResourceExhaustedError(
        absl::StrCat(jobs_.size(), " requests are waiting, the most is ", max_requests_));
  }
  if (tokens_ > 0 && tokens_ + tokens > max_tokens_) {
    return absl::ResourceExhaustedError(absl::StrCat(tokens_, " source tokens are waiting and ",
                                                     tokens, " more would come, the most is ",
                                                     max_tokens_));
  }
  tokens_ += tokens;
  for (const JobPtr& job : jobs) {
    job->submitted = now;
    ++jobs_[job->request.get()];
    since_.insert(now);
  }
  return absl::OkStatus();
}

void WaitingRoom::Leave(const Job& job) {
  absl::MutexLock lock(&mutex_);
  tokens_ -= static_cast<int>(job.source.size());
  since_.erase(since_.find(job.submitted));
  const auto request = jobs_.find(job.request.get());
  if (--request->second == 0) jobs_.erase(request);
}

int WaitingRoom::requests() const {
  absl::MutexLock lock(&mutex_);
  return static_cast<int>(jobs_.size());
}

int WaitingRoom::tokens() const {
  absl::MutexLock lock(&mutex_);
  return tokens_;
}

absl::Time WaitingRoom::oldest() const {
  absl::MutexLock lock(&mutex_);
  return since_.empty() ? absl::InfiniteFuture() : *since_.begin();
}

}  // namespace dragoman
