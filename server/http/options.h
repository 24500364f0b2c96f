// The limits of the HTTP port's clients.

#ifndef DRAGOMAN_SERVER_HTTP_OPTIONS_H_
#define DRAGOMAN_SERVER_HTTP_OPTIONS_H_

#include <cstddef>

#include "absl/time/time.h"
#include "server/base/shared_budget.h"
#include "server/net/listener.h"

namespace dragoman {

struct HttpOptions {
  int threads = 2;                                         // for all connections together
  ConnectionRange descriptors = {.first = 0, .most = 64};  // of the connections
  size_t max_header_bytes = 16 << 10;
  size_t max_body_bytes = 1 << 20;
  // Where the memory of bodies, and of pages that are sent, is taken from; it must outlive the
  // port. Null: there is enough.
  SharedBudget* bodies = nullptr;
  // From the first byte of the header to the last; on a new connection, from connecting.
  absl::Duration header_timeout = absl::Seconds(10);
  absl::Duration body_timeout = absl::Seconds(30);
  absl::Duration write_timeout = absl::Seconds(30);   // for an answer, or for a part of a stream
  absl::Duration idle_timeout = absl::Seconds(75);    // between two requests
  absl::Duration max_age = absl::InfiniteDuration();  // after it, the next answer is the last one
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_OPTIONS_H_
