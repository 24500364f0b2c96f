// What ties a call to the rest of the caller's doings, for the log: the W3C trace context
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
  std::string span_id;   // 16 digits: the span of the caller in which the call was made
};

// `00-TRACE-SPAN-FLAGS`; nothing if `header` is not of that form, which the standard says is to be
// ignored.  Headers of later versions may go on after the flags.
std::optional<TraceContext> ParseTraceParent(std::string_view header);

// Whether a client may choose this id: 1 to 64 of A-Z a-z 0-9 . _ -
bool IsRequestId(std::string_view id);

// 32 random hexadecimal digits.  Thread-safe.
std::string NewRequestId();

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_OBSERVE_TRACE_H_
