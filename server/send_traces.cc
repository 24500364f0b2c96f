#include "server/send_traces.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "engine/base/status.h"
#include "server/observe/otlp.h"
#include "web/http_client.h"

namespace dragoman {
namespace {

constexpr absl::Duration kPostTimeout = absl::Seconds(5);
constexpr size_t kMostOfAnswer = 64 << 10;

// Answers after which the specification wants another attempt.
bool MayPass(int status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

bool IsHeader(const std::string& line) {
  const size_t colon = line.find(':');
  const auto is_plain = [](char c) { return c == '\t' || (c >= ' ' && c != 127); };
  const auto is_of_name = [](char c) { return absl::ascii_isalnum(c) || c == '-' || c == '_'; };
  return colon != line.npos && colon > 0 &&
         std::all_of(line.begin(), line.begin() + colon, is_of_name) &&
         absl::c_all_of(line, is_plain);
}

absl::StatusOr<std::vector<std::string>> ReadHeaders(const std::string& path) {
  std::vector<std::string> headers;
  if (path.empty()) return headers;
  std::ifstream file(path);
  if (!file) return NotFoundError("otlp-headers: cannot read ", path);
  int number = 1;
  for (std::string line; std::getline(file, line); ++number) {
    absl::StripAsciiWhitespace(&line);
    if (line.empty() || line.front() == '#') continue;
    if (!IsHeader(line)) {
      return InvalidArgumentError("otlp-headers: ", path, ": line ", number,
                                  " is not `name: value`");
    }
    headers.push_back(line);
  }
  return headers;
}

}  // namespace

absl::StatusOr<Tracer::Post> PostTraces(const std::string& endpoint,
                                        const std::string& headers_file) {
  ASSIGN_OR_RETURN(const std::vector<std::string> headers, ReadHeaders(headers_file));
  const std::string url = absl::StrCat(absl::StripSuffix(endpoint, "/"), "/v1/traces");
  const auto http = std::make_shared<HttpClient>();
  return [url, headers, http](const std::string& body) -> absl::StatusOr<int64_t> {
    std::string answer;
    const auto keep = [&](const WebResponse&, std::string_view bytes) -> absl::Status {
      answer.append(bytes);
      if (answer.size() <= kMostOfAnswer) return absl::OkStatus();
      return FailedPreconditionError(url, ": the answer is too long");
    };
    ASSIGN_OR_RETURN(const WebResponse response,
                     http->PostJson({.url = url, .headers = headers}, body, kPostTimeout, keep));
    if (response.status / 100 == 2) return RejectedSpans(answer);
    const std::string why = absl::StrCat(url, " answered ", response.status);
    if (MayPass(response.status)) return absl::UnavailableError(why);
    return absl::FailedPreconditionError(why);
  };
}

}  // namespace dragoman
