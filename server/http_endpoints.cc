#include "server/http_endpoints.h"

#include <civetweb.h>

#include <cstdlib>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "server/listener.h"

namespace dragoman {
namespace {

constexpr char kPlainText[] = "text/plain; charset=utf-8";
constexpr char kPrometheusText[] = "text/plain; version=0.0.4; charset=utf-8";

int Answer(mg_connection* connection, int code, const char* type, const std::string& body) {
  const std::string_view method = mg_get_request_info(connection)->request_method;
  if (method != "GET" && method != "HEAD") {
    mg_send_http_error(connection, 405, "%s", "only GET and HEAD");
    return 405;
  }
  mg_response_header_start(connection, code);
  mg_response_header_add(connection, "Content-Type", type, -1);
  mg_response_header_add(connection, "Content-Length", std::to_string(body.size()).c_str(), -1);
  mg_response_header_add(connection, "Cache-Control", "no-store", -1);
  mg_response_header_send(connection);
  if (method == "GET") mg_write(connection, body.data(), body.size());
  return code;
}

int ServeMetrics(mg_connection* connection, void* pages) {
  return Answer(connection, 200, kPrometheusText, static_cast<const HttpPages*>(pages)->metrics());
}

int ServeState(mg_connection* connection, const char* state, const absl::Status& status) {
  if (status.ok()) return Answer(connection, 200, kPlainText, absl::StrCat(state, "\n"));
  return Answer(connection, 503, kPlainText,
                absl::StrCat("not ", state, ": ", status.message(), "\n"));
}

int ServeHealth(mg_connection* connection, void* pages) {
  return ServeState(connection, "alive", static_cast<const HttpPages*>(pages)->alive());
}

int ServeReadiness(mg_connection* connection, void* pages) {
  return ServeState(connection, "ready", static_cast<const HttpPages*>(pages)->ready());
}

int ServeNothing(mg_connection* connection, void*) {
  return Answer(connection, 404, kPlainText, "try /metrics, /healthz or /readyz\n");
}

// What civetweb has to say is of no use to anyone: the errors that matter are returned.
int Silence(const mg_connection*, const char*) { return 1; }

// civetweb does not say why it cannot listen: whoever tries once more learns it.
absl::Status WhyNot(const std::string& address) {
  const absl::Status why = Listener::Open(address).status();
  return absl::Status(
      why.ok() ? absl::StatusCode::kUnavailable : why.code(),
      absl::StrCat("cannot listen on ", address, " for HTTP: ",
                   why.ok() ? "want a numeric address, as [::1]:9464" : why.message()));
}

// Connects and hangs up.
void Knock(const std::string& address) {
  const size_t colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  if (host.front() == '[') host = host.substr(1, host.size() - 2);
  char error[64];
  mg_connection* const connection = mg_connect_client(
      host.c_str(), std::atoi(address.c_str() + colon + 1), /*use_ssl=*/0, error, sizeof(error));
  if (connection != nullptr) mg_close_connection(connection);
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpEndpoints>> HttpEndpoints::Start(const std::string& address,
                                                                    HttpPages pages) {
  auto endpoints = std::unique_ptr<HttpEndpoints>(new HttpEndpoints(std::move(pages)));
  // A connection holds a thread until it has sent its request, so that whoever opens some and sends
  // nothing would keep the probes out: there are many threads and little time.
  const char* options[] = {"listening_ports",
                           address.c_str(),
                           "num_threads",
                           "32",
                           "request_timeout_ms",
                           "5000",
                           "enable_keep_alive",
                           "no",
                           nullptr};
  mg_callbacks callbacks = {};
  callbacks.log_message = Silence;
  endpoints->context_ = mg_start(&callbacks, nullptr, options);
  mg_server_port port = {};
  if (endpoints->context_ == nullptr || mg_get_server_ports(endpoints->context_, 1, &port) < 1) {
    return WhyNot(address);
  }
  endpoints->address_ = address.substr(0, address.rfind(':') + 1) + std::to_string(port.port);
  mg_set_request_handler(endpoints->context_, "/metrics$", ServeMetrics, &endpoints->pages_);
  mg_set_request_handler(endpoints->context_, "/healthz$", ServeHealth, &endpoints->pages_);
  mg_set_request_handler(endpoints->context_, "/readyz$", ServeReadiness, &endpoints->pages_);
  mg_set_request_handler(endpoints->context_, "/", ServeNothing, nullptr);
  return endpoints;
}

HttpEndpoints::~HttpEndpoints() {
  if (context_ == nullptr) return;
  absl::Notification stopped;
  std::thread stopper([&] {
    mg_stop(context_);
    stopped.Notify();
  });
  // civetweb's listener looks up when someone knocks; else only every two seconds.
  while (!stopped.WaitForNotificationWithTimeout(absl::Milliseconds(5))) Knock(address_);
  stopper.join();
}

}  // namespace dragoman
