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

SentenceShape Job::Shape() const {
  return {.source_tokens = static_cast<int>(source.size()),
          .max_steps = options.max_length,
          .max_hypotheses = options.beam_size};
}

size_t Job::KvBytes() const { return model->network().StateBytes(Shape()); }

}  // namespace dragoman
