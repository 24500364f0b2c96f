// Traces: each call as spans, for an OpenTelemetry collector (otlp.h writes them).
//
//   Tracer tracer({.one_in = 100}, post);         post sends a body to the collector
//   std::optional<SpanIds> ids = tracer.Sample(parent);   when a call begins; nothing: not traced
//   tracer.Add(record);                                   when it has ended
//
// The caller decides whether its call is traced, by the flag of its `traceparent`; of calls without
// one, one in so many is.  Ended calls wait in a bounded queue for a thread that sends them in
// batches; nobody waits for the collector.  If it is slow or away, calls are dropped, and counted.
//
// Thread-safe.

#ifndef DRAGOMAN_SERVER_OBSERVE_TRACER_H_
#define DRAGOMAN_SERVER_OBSERVE_TRACER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/base/not_copyable.h"
#include "server/observe/trace.h"

namespace dragoman {

// The ids of a span, in lower-case hexadecimal digits.
struct SpanIds {
  std::string trace_id;   // 32 digits
  std::string span_id;    // 16 digits
  std::string parent_id;  // 16 digits: the caller's span; "" if there is none
};

// A part of a call that is translated by itself: a request of a bulk call, a passage of a file.
struct TracedPart {
  std::string model;  // "" if none was found
  absl::StatusCode code = absl::StatusCode::kOk;
  int source_tokens = 0, target_tokens = 0;
  absl::Time start, end;
};

// A call that has ended.  Names and numbers, never a text.
struct TracedCall {
  SpanIds ids;
  std::string api;          // "grpc", or the name of an HTTP API
  std::string method;       // "Translate"
  std::string http_method;  // "" over gRPC
  std::string http_route;   // "/v1/models/**"
  int http_code = 0;        // 0: not known
  absl::StatusCode code = absl::StatusCode::kOk;
  std::string principal;  // "" if nobody is known
  std::string model;      // "" if none was found
  int texts = 0, source_tokens = 0, target_tokens = 0;
  absl::Time start, end;
  // When the engine was done, and how long the stages before that took; zero if there were none.
  absl::Time translated = absl::InfinitePast();
  absl::Duration queue, encode, decode;
  std::vector<TracedPart> parts;  // the first kMostParts, as they ended
};

// A file has many thousands of passages.
inline constexpr size_t kMostParts = 100;

struct TracerOptions {
  int one_in = 100;                            // of the calls without a traceparent; 0: none
  size_t most_waiting = 2048;                  // calls
  size_t most_at_once = 256;                   // in one body, fewer if they have many parts
  absl::Duration interval = absl::Seconds(5);  // between two bodies, if they are not full
};

// In spans.
struct TracerStats {
  int64_t sent = 0;
  // That were dropped: because too many waited, by the collector, or because it was not there.
  int64_t queue_full = 0, refused = 0, unreachable = 0;
};

class Tracer : private NotCopyable {
 public:
  // Sends a body, waiting for its answer.  Returns the number of spans that the collector rejected.
  // UNAVAILABLE: to be tried again; any other error: the body is useless.
  using Post = std::function<absl::StatusOr<int64_t>(const std::string& body)>;

  Tracer(const TracerOptions& options, Post post);
  // Calls Stop.
  ~Tracer();

  // The ids of a new call, if it is to be traced.
  std::optional<SpanIds> Sample(const std::optional<TraceContext>& parent) const;

  void Add(TracedCall call);

  // Sends what waits, once, and nothing after that.  Idempotent.
  void Stop();

  TracerStats Stats() const;

 private:
  void Run();
  bool Send(const std::vector<TracedCall>& calls);
  bool Pause();

  const TracerOptions options_;
  const Post post_;
  mutable absl::Mutex mutex_;
  std::vector<TracedCall> waiting_ ABSL_GUARDED_BY(mutex_);
  TracerStats stats_ ABSL_GUARDED_BY(mutex_);
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_OBSERVE_TRACER_H_
