#include "server/observe/tracer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/base/end_thread.h"
#include "server/observe/logging.h"
#include "server/observe/otlp.h"

namespace dragoman {
namespace {

// How often a body is sent to a collector that does not take it, and the pause in between.
constexpr int kTries = 3;
constexpr absl::Duration kRetryPause = absl::Seconds(1);
// A body takes 2 kB of memory for each span: so many parts are like another call.
constexpr size_t kPartsLikeCall = 5;

// Whether a call is the one in so many: its trace id decides, as for all servers with this rate.
bool IsChosen(const std::string& trace_id, int one_in) {
  return one_in > 0 && std::stoull(trace_id.substr(17), nullptr, 16) % one_in == 0;
}

}  // namespace

Tracer::Tracer(const TracerOptions& options, Post post)
    : options_(options), post_(std::move(post)), thread_([this] { Run(); }) {}

Tracer::~Tracer() { Stop(); }

std::optional<SpanIds> Tracer::Sample(const std::optional<TraceContext>& parent) const {
  if (parent.has_value()) {
    if (!parent->sampled) return std::nullopt;
    return SpanIds{parent->trace_id, NewSpanId(), parent->span_id};
  }
  if (options_.one_in == 0) return std::nullopt;
  std::string trace_id = NewTraceId();
  if (!IsChosen(trace_id, options_.one_in)) return std::nullopt;
  return SpanIds{std::move(trace_id), NewSpanId(), ""};
}

void Tracer::Add(TracedCall call) {
  absl::MutexLock lock(&mutex_);
  if (closing_ || waiting_.size() >= options_.most_waiting) {
    stats_.queue_full += SpanCount(call);
  } else {
    waiting_.push_back(std::move(call));
  }
}

void Tracer::Stop() { EndThread(&mutex_, &closing_, &thread_); }

TracerStats Tracer::Stats() const {
  absl::MutexLock lock(&mutex_);
  return stats_;
}

void Tracer::Run() {
  const auto full = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return closing_ || waiting_.size() >= options_.most_at_once;
  };
  for (bool closing = false; !closing;) {
    std::vector<TracedCall> calls;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.AwaitWithTimeout(absl::Condition(&full), options_.interval);
      closing = closing_;
      calls.swap(waiting_);
    }
    bool sent = true;
    for (auto next = calls.begin(); next != calls.end() && (sent || !closing);) {
      auto end = next;
      for (size_t size = 0; end != calls.end() && size < options_.most_at_once; ++end) {
        size += 1 + end->parts.size() / kPartsLikeCall;
      }
      sent = Send({std::make_move_iterator(next), std::make_move_iterator(end)});
      next = end;
    }
  }
}

// False if nobody took it.
bool Tracer::Send(const std::vector<TracedCall>& calls) {
  const std::string body = OtlpBody(calls);
  int64_t spans = 0;
  for (const TracedCall& call : calls) spans += SpanCount(call);
  absl::StatusOr<int64_t> rejected = post_(body);
  for (int tries = 1; tries < kTries && absl::IsUnavailable(rejected.status()); ++tries) {
    if (!Pause()) break;
    rejected = post_(body);
  }
  bool first = false;
  {
    absl::MutexLock lock(&mutex_);
    first = stats_.unreachable + stats_.refused == 0;
    if (absl::IsUnavailable(rejected.status())) {
      stats_.unreachable += spans;
    } else {
      const int64_t refused = std::min(spans, rejected.value_or(spans));
      stats_.refused += refused;
      stats_.sent += spans - refused;
    }
  }
  if (!rejected.ok() && first) {  // the metrics have the others
    Log(LogLevel::kWarning, "traces not sent",
        {{"error", std::string(rejected.status().message())}});
  }
  return rejected.ok();
}

// Waits before the next attempt; false if there will be none.
bool Tracer::Pause() {
  absl::MutexLock lock(&mutex_);
  return !mutex_.AwaitWithTimeout(absl::Condition(&closing_), kRetryPause);
}

}  // namespace dragoman
