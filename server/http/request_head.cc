#include "server/http/request_head.h"

#include <boost/beast/http/error.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/base/utf8.h"
#include "server/http/router.h"

namespace dragoman {
namespace {

namespace http = boost::beast::http;

template <typename View>
std::string_view ToStd(View view) {
  return {view.data(), view.size()};
}

int CountHeaders(const HttpHeaders& headers, std::string_view name) {
  return static_cast<int>(
      absl::c_count_if(headers, [&](const auto& header) { return header.first == name; }));
}

// Splits the target of a request line, "/path?query" or "http://host/path?query".
bool SplitTarget(std::string_view target, HttpRequest* request) {
  if (target == "*") {
    request->path = "*";
    return request->method == "OPTIONS";
  }
  if (const size_t scheme = target.find("://"); scheme != target.npos && target[0] != '/') {
    const size_t path = target.find('/', scheme + 3);
    target = path == target.npos ? std::string_view("/") : target.substr(path);
  }
  if (target.empty() || target[0] != '/' || target.find('#') != target.npos) return false;
  const size_t question = target.find('?');
  if (question != target.npos) request->query = std::string(target.substr(question + 1));
  std::string_view path = target.substr(0, question);
  // A slash at the end is the same path: some clients add one.
  if (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return UnescapePercent(path, /*plus_is_space=*/false, &request->path);
}

// Refuses headers that an intermediary might have understood differently, and those that ask for
// what this port cannot do.
std::optional<HttpResponse> CheckHeaders(const HttpRequest& request, bool old) {
  const HttpHeaders& headers = request.headers;
  if (CountHeaders(headers, "host") != (old ? CountHeaders(headers, "host") : 1)) {
    return RpcStatusBody(400, "want one Host header");
  }
  if (CountHeaders(headers, "authorization") > 1) {
    return RpcStatusBody(400, "want at most one Authorization header");
  }
  const std::string_view length = request.Header("content-length");
  if (CountHeaders(headers, "content-length") > 1 ||
      length.find_first_not_of("0123456789") != length.npos) {
    return RpcStatusBody(400, "want one number as Content-Length");
  }
  const std::string_view coding = request.Header("transfer-encoding");
  if (CountHeaders(headers, "transfer-encoding") > 0) {
    if (old) return RpcStatusBody(400, "HTTP/1.0 has no Transfer-Encoding");
    if (!absl::EqualsIgnoreCase(absl::string_view(coding.data(), coding.size()), "chunked")) {
      return RpcStatusBody(501, "the only Transfer-Encoding is chunked");
    }
  }
  const std::string_view expect = request.Header("expect");
  if (!expect.empty() &&
      !absl::EqualsIgnoreCase(absl::string_view(expect.data(), expect.size()), "100-continue")) {
    return RpcStatusBody(417, "the only expectation is 100-continue");
  }
  return std::nullopt;
}

}  // namespace

std::optional<HttpResponse> ReadRequestHead(const HttpMessage& message, HttpRequest* request) {
  const bool old = message.version() < 11;
  request->method = std::string(ToStd(message.method_string()));
  for (const auto& field : message) {
    std::string name(ToStd(field.name_string()));
    absl::c_transform(name, name.begin(),
                      [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    request->headers.emplace_back(std::move(name), std::string(ToStd(field.value())));
  }
  if (std::optional<HttpResponse> refusal = CheckHeaders(*request, old); refusal.has_value()) {
    return refusal;
  }
  if (!SplitTarget(ToStd(message.target()), request)) {
    return RpcStatusBody(400, "the target of the request is not a path");
  }
  if (!IsValidUtf8(request->path)) return RpcStatusBody(400, "the path is not valid UTF-8");
  return std::nullopt;
}

HttpResponse ExplainReadError(const boost::system::error_code& error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return RpcStatusBody(431, "the headers are too large");
  }
  if (error == http::error::body_limit) {
    return RpcStatusBody(413, "the body is too large; send fewer texts at a time");
  }
  if (error == http::error::bad_version) {
    return RpcStatusBody(505, "want HTTP/1.1; gRPC has a port of its own");
  }
  if (error == http::error::end_of_stream || error == http::error::partial_message) {
    return {.code = 0};
  }
  if (error.category() != make_error_code(http::error::bad_value).category()) return {.code = 0};
  return RpcStatusBody(400, absl::StrCat("this is not an HTTP request: ", error.message()));
}

}  // namespace dragoman
