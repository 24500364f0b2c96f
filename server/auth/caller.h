// Who makes a call, and until when it is wanted, as the transport tells it.  Each transport fills
// one of these; nothing behind it sees a gRPC or an HTTP type.

#ifndef DRAGOMAN_SERVER_AUTH_CALLER_H_
#define DRAGOMAN_SERVER_AUTH_CALLER_H_

#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace dragoman {

// What the client sent is not checked yet.  Empty strings mean that nothing was sent.
struct Caller {
  std::string token;             // of `authorization: Bearer TOKEN`
  std::string certificate_name;  // the identity in a client certificate that TLS has verified
  std::string request_id;        // `x-request-id`
  std::string trace_parent;      // `traceparent`, as the W3C trace context defines it
  absl::Time deadline = absl::InfiniteFuture();
  const char* door = "grpc";  // by which way the call came in, for the log: a literal
};

// The token of an `authorization` header, "Bearer TOKEN"; empty if it is of another scheme.
std::string_view BearerToken(std::string_view authorization);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_AUTH_CALLER_H_
