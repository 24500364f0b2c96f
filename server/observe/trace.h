// What links a call to the caller's own records, for the log: the W3C trace context
// (https://www.w3.org/TR/trace-context-1) and a request id.

#ifndef DRAGOMAN_SERVER_OBSERVE_TRACE_H_
#define DRAGOMAN_SERVER_OBSERVE_TRACE_H_

#include <optional>
#include <string>
#include <string_view>

namespace dragoman {

// Ids in lower-case hexadecimal digits.
struct TraceContext {
  std::string trace_id;  // 32 digits
  std::string span_id;   // 16 digits: the caller's span that made the call
  bool sampled = false;  // whether the caller records its trace
};

// Parses `00-TRACE-SPAN-FLAGS`.  Nothing if `header` does not have that form; the standard says to
// ignore it then.  Headers of later versions may continue after the flags.
std::optional<TraceContext> ParseTraceParent(std::string_view header);

// Whether a client may choose this id: 1 to 64 of A-Z a-z 0-9 . _ -
bool IsRequestId(std::string_view id);

// 32 random hexadecimal digits.  Thread-safe.
std::string NewRequestId();

// 32 and 16 of them, not all zero.
std::string NewTraceId();
std::string NewSpanId();

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_OBSERVE_TRACE_H_
