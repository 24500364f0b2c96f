// HTTP requests, for the server and the client.  Only this file uses libcurl.
//
//   HttpClient http;
//   ASSIGN_OR_RETURN(const WebResponse response, http.Get({.url = url}, sink));
//
// Redirects of a GET are followed, from HTTPS only to HTTPS; a bearer token is sent only to the
// host and port that it is meant for.  Proxies come from the environment (https_proxy, no_proxy).

#ifndef DRAGOMAN_WEB_HTTP_CLIENT_H_
#define DRAGOMAN_WEB_HTTP_CLIENT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/base/not_copyable.h"

namespace dragoman {

struct WebRequest {
  std::string url;
  std::string token;                      // sent as a bearer token; "": none
  int64_t from = 0;                       // the first byte to fetch
  std::vector<std::string> headers = {};  // of a POST, which follows no redirect: "name: value"
};

struct WebResponse {
  int status = 0;  // 200, 404, ...
  // By names in lower case.  For names that begin with x-, the first value of all hops; for others,
  // the value of the last hop.
  std::map<std::string, std::string> headers;
  std::string error_body;  // the beginning of the body, for a status other than 2xx

  std::string Header(const std::string& name) const;  // "" if there is none
};

// Not thread-safe.
class HttpClient : private NotCopyable {
 public:
  // Called with the response and a part of the body of a 2xx status; an error ends the transfer.
  using Sink = std::function<absl::Status(const WebResponse&, std::string_view)>;

  HttpClient();
  ~HttpClient();

  // Any status counts as a response.  UNAVAILABLE if there is none or the connection breaks (try
  // again), the sink's error if it returned one, FAILED_PRECONDITION if the server's certificate is
  // not trusted.
  absl::StatusOr<WebResponse> Get(const WebRequest& request, const Sink& sink);

  // Sends `body`, as JSON, and passes on the answer as Get does, but within `timeout`, or
  // UNAVAILABLE.
  absl::StatusOr<WebResponse> PostJson(const WebRequest& request, const std::string& body,
                                       absl::Duration timeout, const Sink& sink);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_WEB_HTTP_CLIENT_H_
