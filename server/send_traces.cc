#include "server/send_traces.h"

#include <memory>
#include <string_view>

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

}  // namespace

Tracer::Post PostTraces(const std::string& endpoint) {
  const std::string url = absl::StrCat(absl::StripSuffix(endpoint, "/"), "/v1/traces");
  const auto http = std::make_shared<HttpClient>();
  return [url, http](const std::string& body) -> absl::StatusOr<int64_t> {
    std::string answer;
    const auto keep = [&](const WebResponse&, std::string_view bytes) {
      if (answer.size() < kMostOfAnswer) answer.append(bytes);
      return absl::OkStatus();
    };
    ASSIGN_OR_RETURN(const WebResponse response,
                     http->PostJson({.url = url}, body, kPostTimeout, keep));
    if (response.status / 100 == 2) return RejectedSpans(answer);
    const std::string why = absl::StrCat(url, " answered ", response.status);
    if (MayPass(response.status)) return absl::UnavailableError(why);
    return absl::FailedPreconditionError(why);
  };
}

}  // namespace dragoman
