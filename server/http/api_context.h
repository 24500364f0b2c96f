// Between HTTP and the rest of the server: what a request says about its caller, and how the end of
// a call is reported (grpc_caller.h is the same for gRPC).

#ifndef DRAGOMAN_SERVER_HTTP_API_CONTEXT_H_
#define DRAGOMAN_SERVER_HTTP_API_CONTEXT_H_

#include <functional>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "dragoman/v1/translation.pb.h"
#include "server/api/call.h"
#include "server/auth/caller.h"
#include "server/base/errors.h"
#include "server/http/message.h"

namespace dragoman {

// The time that a call may take according to its headers: X-Request-Timeout in seconds ("2.5") or
// with a unit ("500ms", "2m"), or else grpc-timeout in gRPC's format ("500m" is 500 milliseconds).
// Infinite if there is neither.  INVALID_ARGUMENT unless it is a time above zero.
absl::StatusOr<absl::Duration> TimeoutOf(const HttpRequest& request);

// `api` is the name of the API for the log: a literal such as "http".  An error in a header is an
// error of the call.
Caller CallerOf(const HttpRequest& request, const char* api);

// The headers for the end of a call: X-Request-Id and, if the client should retry or has to show a
// token, Retry-After and WWW-Authenticate.
HttpHeaders HeadersOf(const CallEnd& end);

// The answer, counted until it is sent (answer_budget.h).
HttpResponse Counted(const CallEnd& end, HttpResponse response);

// The body for a call that failed: google.rpc.Status as JSON.
HttpResponse ToHttpError(const CallEnd& end);

// The name of our own HTTP API in the log; other APIs have theirs.
inline constexpr char kHttpApi[] = "http";

// What the HTTP APIs of the translation service share.
struct ApiContext {
  const ServerParts* parts = nullptr;  // complete once `loaded` is OK
  std::function<absl::Status()> loaded;
  size_t max_document_bytes = 0;
};

// Writes the end of a Translate in the format of an API. The response is empty unless the call
// succeeded.
using HttpRender = std::function<HttpResponse(const CallEnd& end, v1::TranslateResponse response)>;

// Translates for the sender of `http`, who may go away, and answers with the result of `render`.
// `read` creates the request from http's body; it is called at once, if the caller is admitted.
// `api` is a literal, for the metrics and the log.
void TranslateOverHttp(const ApiContext& context, const char* api, const HttpRequest& http,
                       std::shared_ptr<HttpAnswer> answer,
                       absl::FunctionRef<absl::StatusOr<v1::TranslateRequest>()> read,
                       HttpRender render);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_API_CONTEXT_H_
