#include "server/http/response_head.h"

#include <boost/beast/http/status.hpp>
#include <string_view>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace dragoman {
namespace {

namespace http = boost::beast::http;

// "Sun, 06 Nov 1994 08:49:37 GMT", formatted once per second.
const std::string& DateNow() {
  thread_local int64_t second = -1;
  thread_local std::string date;
  const absl::Time now = absl::Now();
  if (const int64_t current = absl::ToUnixSeconds(now); current != second) {
    second = current;
    date = absl::FormatTime("%a, %d %b %Y %H:%M:%S GMT", now, absl::UTCTimeZone());
  }
  return date;
}

bool HasHeader(const HttpHeaders& headers, std::string_view name) {
  return absl::c_any_of(headers, [&](const auto& header) {
    return absl::EqualsIgnoreCase(header.first, absl::string_view(name.data(), name.size()));
  });
}

}  // namespace

std::string ResponseHead(const HttpResponse& response, const HttpHeaders& cors,
                         const ResponseFraming& framing) {
  const auto reason = http::obsolete_reason(static_cast<http::status>(response.code));
  std::string head =
      absl::StrCat("HTTP/1.1 ", response.code, " ",
                   response.code == 499 ? absl::string_view("Client Closed Request")
                                        : absl::string_view(reason.data(), reason.size()),
                   "\r\nDate: ", DateNow(), "\r\n");
  const auto add = [&](absl::string_view name, absl::string_view value) {
    absl::StrAppend(&head, name, ": ", value, "\r\n");
  };
  if (!response.content_type.empty()) {
    add("Content-Type", response.content_type);
    add("X-Content-Type-Options", "nosniff");
  }
  if (framing.length.has_value() && response.code != 204) {
    add("Content-Length", std::to_string(*framing.length));
  }
  if (!HasHeader(response.headers, "cache-control")) add("Cache-Control", "no-store");
  for (const auto& [name, value] : response.headers) add(name, value);
  for (const auto& [name, value] : cors) add(name, value);
  if (framing.chunked) add("Transfer-Encoding", "chunked");
  if (!framing.keep_alive) {
    add("Connection", "close");
  } else if (framing.old) {
    add("Connection", "keep-alive");
  }
  return head + "\r\n";
}

}  // namespace dragoman
