// The caller and the deadline of a call, as the transport reports them.  Each transport fills in
// one of these; the code behind it sees neither gRPC's nor HTTP's types.

#ifndef DRAGOMAN_SERVER_AUTH_CALLER_H_
#define DRAGOMAN_SERVER_AUTH_CALLER_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace dragoman {

// What the client sent has not been checked yet.  Empty strings mean that nothing was sent.
struct Caller {
  std::string token;  // of `authorization: Bearer TOKEN`
  // Whom a client certificate names that TLS has verified, or why that cannot be said
  // (CertificateName).
  absl::StatusOr<std::string> certificate_name = std::string();
  std::string peer;          // the address of the other end of the connection
  std::string request_id;    // `x-request-id`
  std::string trace_parent;  // `traceparent`, as the W3C trace context defines it
  std::string http_method;   // over HTTP: "POST"
  std::string http_route;    // and the path that it matched: "/v1/models/**"
  bool is_owner = false;     // of this process, as the file of the socket shows
  // Instead of all that: the principal for which another server has begun this work.  Never set by
  // a transport.
  std::optional<std::string> on_behalf_of = std::nullopt;
  size_t message_bytes = 0;  // of the request, if it comes in one message
  size_t more_bytes = 0;     // of memory, beyond what such a message takes (MemoryOfMessage)
  absl::Time deadline = absl::InfiniteFuture();
  const char* api = "grpc";               // the API that was called, for the log: a literal
  absl::Status wrong = absl::OkStatus();  // an error in what was sent; the call ends with it

  bool over_grpc() const { return http_method.empty(); }
};

// Who holds what a call takes of a budget, over any transport: the principal or, if it is nobody,
// the address without its port; of an IPv6 address its network, the first 64 bits.  An address
// begins with a space, as no principal does.
std::string HolderOf(const std::string& principal, std::string_view peer);

// INVALID_ARGUMENT unless a caller may have this name: UTF-8 without control characters, and
// without white space at its ends.
absl::Status CheckCallerName(std::string_view name);

// The token of an `authorization` header, "Bearer TOKEN"; empty for another scheme.
std::string_view BearerToken(std::string_view authorization);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_AUTH_CALLER_H_
