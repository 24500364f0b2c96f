#include "engine/decode/job.h"

#include <utility>

namespace dragoman {

absl::Status RequestState::Wanted(absl::Time now) const {
  if (cancelled()) return absl::CancelledError("the request was cancelled");
  if (now >= deadline_) return absl::DeadlineExceededError("the deadline passed");
  return absl::OkStatus();
}

void Job::Finish(JobResult result) {
  const auto tell = std::exchange(on_done, nullptr);
  DRAGOMAN_CHECK(tell != nullptr);
  tell(std::move(result));
}

size_t Job::KvBytes() const {
  const ModelConfig& config = model->config();
  return SourceMemory::BytesFor(config, static_cast<int>(source.size())) +
         KvCache::BytesFor(config, options.max_length, options.beam_size);
}

}  // namespace dragoman
