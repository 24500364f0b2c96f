// The pages for probes and for Prometheus:
//
//   /metrics          the Prometheus text format, compressed for who takes that
//   /metrics/history  some of it as it was in the last hour, as JSON (server/observe/history.h)
//   /healthz          200 while the server is alive, otherwise 503 and the reason
//   /readyz           200 while it takes calls, and then what is wrong nevertheless; otherwise 503
//                     and the reason
//
// They are meant for a trusted network: they require neither a token nor a certificate, and even if
// the port uses TLS they are also served in plain text, because most probes need that.

#ifndef DRAGOMAN_SERVER_HTTP_PAGES_H_
#define DRAGOMAN_SERVER_HTTP_PAGES_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "server/http/router.h"

namespace dragoman {

// The content of the pages.  Called on the threads of the port.
struct HttpPages {
  std::function<std::string()> metrics;  // null: there is no such page on this port
  std::function<std::string()> history;
  std::function<absl::Status()> alive;
  std::function<absl::Status()> ready;
  std::function<std::string()> faults;  // while it is ready, a line each; may be null
};

void AddPages(HttpPages pages, HttpRouter* router);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_PAGES_H_
