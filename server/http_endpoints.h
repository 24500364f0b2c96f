// The server's HTTP side, for probes and for Prometheus:
//
//   /metrics   the Prometheus text format
//   /healthz   200 while the server lives, else 503 and the reason
//   /readyz    200 while it takes calls, else 503 and the reason
//
// For a network that is trusted: up to 31 connections that send nothing do no harm.
//
// The only door to civetweb (prometheus-cpp's own Exposer can serve nothing but metrics).

#ifndef DRAGOMAN_SERVER_HTTP_ENDPOINTS_H_
#define DRAGOMAN_SERVER_HTTP_ENDPOINTS_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct mg_context;

namespace dragoman {

// What the pages say.  Called on the endpoints' own threads, until they are destroyed.
struct HttpPages {
  std::function<std::string()> metrics;
  std::function<absl::Status()> alive;
  std::function<absl::Status()> ready;
};

class HttpEndpoints {
 public:
  // Listens on HOST:PORT, HOST being a numeric address.  An error names it and says why it cannot
  // be had.
  static absl::StatusOr<std::unique_ptr<HttpEndpoints>> Start(const std::string& address,
                                                              HttpPages pages);

  // Waits for the pages that are being served.
  ~HttpEndpoints();
  HttpEndpoints(const HttpEndpoints&) = delete;
  HttpEndpoints& operator=(const HttpEndpoints&) = delete;

  // HOST:PORT, with the port that was picked if it was 0.
  const std::string& address() const { return address_; }

 private:
  explicit HttpEndpoints(HttpPages pages) : pages_(std::move(pages)) {}

  HttpPages pages_;
  std::string address_;
  mg_context* context_ = nullptr;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_ENDPOINTS_H_
