#include "server/http/router.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/rpc/error_details.pb.h"
#include "server/http/json.h"

namespace dragoman {
namespace {

bool FitsPath(std::string_view pattern, std::string_view path) {
  const size_t star = pattern.find('*');
  if (star == pattern.npos) return path == pattern;
  const bool any = pattern.substr(star).starts_with("**");
  if (!path.starts_with(pattern.substr(0, star))) return false;
  path.remove_prefix(star);
  pattern.remove_prefix(star + (any ? 2 : 1));
  for (size_t taken = 1; taken <= path.size() && (any || path[taken - 1] != '/'); ++taken) {
    if (FitsPath(pattern, path.substr(taken))) return true;
  }
  return false;
}

bool HasParameter(std::string_view query, std::string_view name) {
  HttpHeaders parameters;
  ParseForm(query, &parameters);  // those before an escape that is malformed count
  return absl::c_any_of(parameters, [&](const auto& parameter) { return parameter.first == name; });
}

bool Fits(const HttpRoute& route, const HttpRequest& request) {
  return FitsPath(route.path, request.path) &&
         (route.parameter.empty() || HasParameter(request.query, route.parameter));
}

bool HasBody(const HttpRequest& request) {
  const std::string_view length = request.Header("content-length");
  return !request.Header("transfer-encoding").empty() || (!length.empty() && length != "0");
}

// Refuses a body whose type the route does not accept.
std::optional<HttpResponse> CheckBody(const HttpRoute& route, const HttpRequest& request) {
  const auto& types = route.body_types;
  if (types.empty()) return std::nullopt;
  if (!request.Header("content-encoding").empty()) {
    return route.error(415,
                       "compressed bodies are not accepted: a few bytes may expand to any size");
  }
  const std::string type = MediaType(request.Header("content-type"));
  if (type.empty() && !HasBody(request)) return std::nullopt;
  if (absl::c_linear_search(types, type)) return std::nullopt;
  return route.error(
      415, absl::StrCat("the content type is \"", type, "\", want ", absl::StrJoin(types, " or ")));
}

HttpResponse RefuseMethod(const HttpRoute& route, const std::string& allowed) {
  HttpResponse refusal =
      route.error(405, absl::StrCat("the method is not allowed here, want ", allowed));
  refusal.headers.emplace_back("Allow", allowed);
  return refusal;
}

int RpcCodeOf(int http_code) {
  constexpr std::pair<int, int> kCodes[] = {{401, 16}, {403, 7},  {426, 7},  {404, 5},  {413, 8},
                                            {429, 8},  {431, 8},  {405, 12}, {501, 12}, {408, 4},
                                            {504, 4},  {503, 14}, {500, 13}};
  for (const auto& [http, rpc] : kCodes) {
    if (http == http_code) return rpc;
  }
  return 3;
}

}  // namespace

HttpResponse RpcStatusBody(int code, std::string_view message) {
  google::rpc::Status status;
  status.set_code(RpcCodeOf(code));
  status.set_message(std::string(message));
  return {.code = code, .content_type = kJson, .body = ToJson(status).value_or("{}")};
}

HttpResponse PlainTextBody(int code, std::string_view message) {
  return {.code = code,
          .content_type = "text/plain; charset=utf-8",
          .body = std::string(message) + "\n"};
}

bool HttpRouter::Allows(std::string_view origin) const {
  return !origin.empty() &&
         absl::c_any_of(origins_, [&](const auto& o) { return o == "*" || o == origin; });
}

void HttpRouter::AddCorsHeaders(const HttpRequest& request, HttpHeaders* headers) const {
  if (origins_.empty()) return;
  headers->emplace_back("Vary", "Origin");
  const std::string_view origin = request.Header("origin");
  if (!Allows(origin)) return;
  headers->emplace_back("Access-Control-Allow-Origin", std::string(origin));
  headers->emplace_back("Access-Control-Expose-Headers", "X-Request-Id, Retry-After");
}

size_t HttpRouter::max_file_bytes() const {
  size_t most = 0;
  for (const HttpRoute& route : routes_) most = std::max(most, route.max_file_bytes);
  return most;
}

HttpResponse HttpRouter::AnswerOptions(const HttpRequest& request, const std::string& allow) const {
  HttpResponse response = {.code = 204};
  response.headers.emplace_back("Allow", allow);
  if (!Allows(request.Header("origin")) ||
      request.Header("access-control-request-method").empty()) {
    return response;
  }
  response.headers.emplace_back("Access-Control-Allow-Methods", allow);
  response.headers.emplace_back("Access-Control-Allow-Headers",
                                "Authorization, Content-Type, Grpc-Timeout, Traceparent, "
                                "X-Request-Id, X-Request-Timeout");
  response.headers.emplace_back("Access-Control-Max-Age", "86400");
  return response;
}

HttpRouter::Match HttpRouter::Find(const HttpRequest& request) const {
  const std::string& method = request.method;
  std::vector<std::string> allowed;
  const auto allow = [&](const std::string& one) {
    if (!absl::c_linear_search(allowed, one)) allowed.push_back(one);
  };
  const HttpRoute* of_path = nullptr;  // for any method
  const HttpRoute* found = nullptr;
  for (const HttpRoute& route : routes_) {
    if (!Fits(route, request)) continue;
    if (of_path == nullptr) of_path = &route;
    if (route.path != of_path->path) continue;
    if (route.method == method || (route.method == "GET" && method == "HEAD")) found = &route;
    allow(route.method);
    if (route.method == "GET") allow("HEAD");
    if (found != nullptr) break;
  }
  if (of_path == nullptr && !(method == "OPTIONS" && request.path == "*")) {
    return {.refusal = RpcStatusBody(404, "there is nothing at this path; see /openapi.json")};
  }
  allow("OPTIONS");
  if (method == "OPTIONS") {
    return {.refusal = AnswerOptions(request, absl::StrJoin(allowed, ", "))};
  }
  const HttpRoute& nearest = found != nullptr ? *found : *of_path;
  if (want_tls_ && !request.encrypted && !nearest.for_probes) {
    HttpResponse refusal =
        nearest.error(426, "this server accepts such requests only over TLS (https)");
    refusal.headers.emplace_back("Upgrade", "TLS/1.2, HTTP/1.1");  // RFC 9110, 15.5.22
    return {.refusal = std::move(refusal)};
  }
  if (found == nullptr) {
    return {.refusal = RefuseMethod(*of_path, absl::StrJoin(allowed, ", "))};
  }
  if (std::optional<HttpResponse> refusal = CheckBody(*found, request); refusal.has_value()) {
    return {.refusal = std::move(refusal)};
  }
  return {.route = found};
}

}  // namespace dragoman
