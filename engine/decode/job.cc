#include "engine/decode/job.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/decode/drafts.h"
#include "engine/decode/replay.h"
#include "engine/search/make_search.h"

namespace dragoman {

void RequestState::Cancel(absl::Time now) {
  int64_t none = std::numeric_limits<int64_t>::max();
  cancelled_.compare_exchange_strong(none, absl::ToUnixNanos(now));  // the first one counts
}

absl::Status RequestState::Wanted(absl::Time now) const {
  const int64_t nanos = cancelled_.load();
  const bool cancelled = nanos != std::numeric_limits<int64_t>::max();
  if (cancelled && absl::FromUnixNanos(nanos) + kSlack < deadline()) {
    return absl::CancelledError("the request was cancelled");
  }
  if (cancelled || now >= deadline()) return absl::DeadlineExceededError("the deadline passed");
  return absl::OkStatus();
}

void Job::Finish(JobResult result) {
  const auto tell = std::exchange(on_done, nullptr);
  DRAGOMAN_CHECK(tell != nullptr);
  tell(std::move(result));
}

SentenceShape Job::Shape() const {
  return {.source_tokens = static_cast<int>(source.size()),
          .max_steps = options.max_length + (Draft::IsUsed(*this) ? Draft::MostWrong(*this) : 0),
          .max_hypotheses = MaxLive(*this),
          .attention = attention || places_phrases() || options.coverage_penalty != 0.0f};
}

const WorkTimes& JobCost::Times() const {
  static const WorkTimes nominal{{0, 100e-6, 0}, {0, 100e-6, 0}};
  return times != nullptr ? *times : nominal;
}

double JobCost::StepSeconds(int step) const {
  return Times().step.Of(rows, double{1} * rows * (source_tokens + step));
}

double JobCost::EncodeSeconds(int stages) const {
  const double tokens = static_cast<double>(source_tokens) * stages / encode_stages;
  return Times().encode.Of(tokens, tokens * source_tokens);
}

double JobCost::Seconds() const {
  return EncodeSeconds(encode_stages) + steps * StepSeconds(steps / 2);
}

void Price(double length_ratio, WorkTimes* times, Job* job) {
  const SearchOptions& options = job->options;
  const int source_tokens = static_cast<int>(job->source.size());
  const int expected = static_cast<int>(std::ceil(length_ratio * source_tokens)) + 1;
  int steps = std::clamp(expected, options.min_length + 1, options.max_length);
  // A replay takes as many rows as its hypotheses have tokens.
  if (Replay::IsAskedFor(*job)) steps += (steps * options.num_hypotheses - 1) / MaxLive(*job) + 1;
  job->cost = {
      .source_tokens = source_tokens,
      .encode_stages = job->model->network().EncodeStages(source_tokens),
      .rows = MaxLive(*job),
      .steps = steps,
      .kv_bytes = job->model->network().StateBytes(job->Shape()),
      .times = times,
  };
}

}  // namespace dragoman
