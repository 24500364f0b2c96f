// Which handler answers which path: the list of all that the HTTP port serves.
//
//   HttpRouter router;
//   router.Add({.method = "POST", .path = "/v1/translate", .handler = Translate,
//               .body_types = {"application/json"}});
//   router.Add({.method = "GET", .path = "/v1/models/*", .handler = GetModel});
//
// A request is looked up when its headers have come, before its body is read, so that whoever
// knocks at the wrong door is told so at once.

#ifndef DRAGOMAN_SERVER_HTTP_ROUTER_H_
#define DRAGOMAN_SERVER_HTTP_ROUTER_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/message.h"

namespace dragoman {

// What an error looks like: APIs that are older than ours have shapes of their own.
using HttpErrorBody = std::function<HttpResponse(int code, std::string_view message)>;

// {"code": 5, "message": "..."}: google.rpc.Status, with the gRPC code that is nearest.
HttpResponse RpcStatusBody(int code, std::string_view message);
// The message and a line break.
HttpResponse PlainTextBody(int code, std::string_view message);

struct HttpRoute {
  std::string method;  // "GET", which answers HEAD as well, or "POST"
  std::string path;    // "/v1/models", or "/v1/models/*" for all that are longer
  HttpHandler handler;
  std::vector<std::string> body_types = {};  // media types; empty: a body is not looked at
  HttpErrorBody error = RpcStatusBody;
  // Served in plain text even where the port has certificates, and without CORS.
  bool for_probes = false;
};

// Filled before it serves and never changed then, so safe for concurrent use.
class HttpRouter {
 public:
  void Add(HttpRoute route) { routes_.push_back(std::move(route)); }

  // Pages of these origins may call ("https://example.org", or "*": of all); none by default.
  void AllowOrigins(std::vector<std::string> origins) { origins_ = std::move(origins); }
  // The port has certificates: what is not for probes is refused in plain text.
  void WantTls() { want_tls_ = true; }

  struct Match {
    const HttpRoute* route = nullptr;  // null: the request is answered by `refusal`
    std::optional<HttpResponse> refusal;
  };
  // Who answers a request, of which only the body is missing.
  Match Find(const HttpRequest& request) const;

  // What an answer to `request` needs so that a page of another origin may read it.
  void AddCorsHeaders(const HttpRequest& request, HttpHeaders* headers) const;

  const std::vector<HttpRoute>& routes() const { return routes_; }

 private:
  bool Allows(std::string_view origin) const;
  HttpResponse AnswerOptions(const HttpRequest& request, const std::string& allow) const;

  std::vector<HttpRoute> routes_;
  std::vector<std::string> origins_;
  bool want_tls_ = false;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_ROUTER_H_
