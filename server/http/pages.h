// The pages for probes and for Prometheus:
//
//   /metrics   the Prometheus text format
//   /healthz   200 while the server lives, else 503 and the reason
//   /readyz    200 while it takes calls, else 503 and the reason
//
// They are for a network that is trusted: neither a token nor a certificate is asked for, and where
// the port has certificates they are served in plain text as well, as most probes want them.

#ifndef DRAGOMAN_SERVER_HTTP_PAGES_H_
#define DRAGOMAN_SERVER_HTTP_PAGES_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "server/http/router.h"

namespace dragoman {

// What the pages say.  Called on the threads of the port.
struct HttpPages {
  std::function<std::string()> metrics;
  std::function<absl::Status()> alive;
  std::function<absl::Status()> ready;
};

void AddPages(HttpPages pages, HttpRouter* router);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_PAGES_H_
