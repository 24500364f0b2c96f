// Which handler answers which path: the list of everything that the HTTP port serves.
//
//   HttpRouter router;
//   router.Add({.method = "POST", .path = "/v1/translate", .handler = Translate,
//               .body_types = {"application/json"}});
//   router.Add({.method = "GET", .path = "/v1/models/**", .handler = GetModel});
//
// A request is routed when its headers have arrived, before its body is read, so that a wrong path
// is reported at once.  The first path that fits decides: a method that it lacks is refused, even
// if a later path that fits, too, has it.  So general paths come last.  %-escapes are decoded
// before: %2F is a slash.

#ifndef DRAGOMAN_SERVER_HTTP_ROUTER_H_
#define DRAGOMAN_SERVER_HTTP_ROUTER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/http/message.h"

namespace dragoman {

// How an error is written: older APIs have their own formats.
using HttpErrorBody = std::function<HttpResponse(int code, std::string_view message)>;

// {"code": 5, "message": "..."}: google.rpc.Status, with the closest gRPC code.
HttpResponse RpcStatusBody(int code, std::string_view message);
// The message and a line break.
HttpResponse PlainTextBody(int code, std::string_view message);

struct HttpRoute {
  std::string method;  // "GET", which also answers HEAD, or "POST"
  // "/v1/models", or with a "*", which stands for one character or more without a slash, or "**",
  // for one or more of any kind.
  std::string path;
  HttpHandler handler;
  std::vector<std::string> body_types = {};  // media types; empty: the body is ignored
  // If not null: bodies are files, of up to max_file_bytes, which go where this says.  It may
  // refuse them; then the handler is called at once, and answers.
  std::function<std::shared_ptr<DocumentUpload>(const HttpRequest& head)> receive = nullptr;
  size_t max_file_bytes = 0;
  HttpErrorBody error = RpcStatusBody;
  // Served in plain text even if the port uses TLS, and without CORS.
  bool for_probes = false;
  // If not empty: only requests whose query has this parameter.
  std::string parameter = {};
  std::string api = {};  // the API that it belongs to, for the metrics; set by the router
};

// Filled before serving and never changed afterwards, so safe for concurrent use.
class HttpRouter {
 public:
  void Add(HttpRoute route) {
    route.api = api_;
    routes_.push_back(std::move(route));
  }
  // One that answers instead of an earlier one with its method and path.
  void AddBefore(HttpRoute route) {
    route.api = api_;
    routes_.insert(routes_.begin(), std::move(route));
  }
  // The routes that are added from now on belong to this API: "deepl".
  void BeginApi(std::string api) { api_ = std::move(api); }

  // Lets pages of these origins call ("https://example.org", or "*" for all); none by default.
  void AllowOrigins(std::vector<std::string> origins) { origins_ = std::move(origins); }
  // The port uses TLS: only routes for probes are served in plain text.
  void WantTls() { want_tls_ = true; }

  struct Match {
    const HttpRoute* route = nullptr;  // null: `refusal` answers the request
    std::optional<HttpResponse> refusal;
  };
  // Finds the handler of a request whose body has not been read yet.
  Match Find(const HttpRequest& request) const;

  // Adds the headers that allow a page of another origin to read the answer to `request`.
  void AddCorsHeaders(const HttpRequest& request, HttpHeaders* headers) const;

  const std::vector<HttpRoute>& routes() const { return routes_; }
  // The longest file that any route receives.
  size_t max_file_bytes() const;

 private:
  bool Allows(std::string_view origin) const;
  HttpResponse AnswerOptions(const HttpRequest& request, const std::string& allow) const;

  std::vector<HttpRoute> routes_;
  std::string api_;
  std::vector<std::string> origins_;
  bool want_tls_ = false;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_ROUTER_H_
