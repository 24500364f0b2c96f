#include "server/http/api_context.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/time/clock.h"
#include "engine/base/status.h"
#include "server/base/errors.h"
#include "server/http/http_call.h"
#include "server/http/json.h"
#include "server/http/router.h"

namespace dragoman {
namespace {

// A call of one message for one.
struct UnaryHttpCall {
  const std::shared_ptr<HttpAnswer> answer;
  const RenderEnd render;
  std::unique_ptr<UnaryExchange> exchange = nullptr;
  std::shared_ptr<UnaryHttpCall> self = nullptr;
};

constexpr char kTimeoutHeader[] = "x-request-timeout";
constexpr char kGrpcTimeoutHeader[] = "grpc-timeout";

absl::Status BadTimeout(const char* header, std::string_view value) {
  return InvalidField(header, "\"", absl::string_view(value.data(), value.size()),
                      "\" is not a time, want for example 2.5 or 500ms");
}

// gRPC writes a timeout as at most eight digits and a unit.
absl::StatusOr<absl::Duration> ParseGrpcTimeout(std::string_view text) {
  int64_t number = 0;
  if (text.size() < 2 || text.size() > 9 ||
      !absl::SimpleAtoi(absl::string_view(text.data(), text.size() - 1), &number) || number <= 0) {
    return BadTimeout(kGrpcTimeoutHeader, text);
  }
  for (const auto& [unit, one] : {std::pair('H', absl::Hours(1)),
                                  {'M', absl::Minutes(1)},
                                  {'S', absl::Seconds(1)},
                                  {'m', absl::Milliseconds(1)},
                                  {'u', absl::Microseconds(1)},
                                  {'n', absl::Nanoseconds(1)}}) {
    if (text.back() == unit) return number * one;
  }
  return BadTimeout(kGrpcTimeoutHeader, text);
}

}  // namespace

absl::StatusOr<absl::Duration> TimeoutOf(const HttpRequest& request) {
  const std::string_view timeout = request.Header(kTimeoutHeader);
  if (timeout.empty()) {
    const std::string_view grpc = request.Header(kGrpcTimeoutHeader);
    if (grpc.empty()) return absl::InfiniteDuration();
    return ParseGrpcTimeout(grpc);
  }
  absl::Duration duration;
  double seconds = 0;
  const absl::string_view text(timeout.data(), timeout.size());
  if (absl::SimpleAtod(text, &seconds)) {
    duration = absl::Seconds(seconds);
  } else if (!absl::ParseDuration(text, &duration)) {
    return BadTimeout(kTimeoutHeader, timeout);
  }
  if (std::isnan(seconds) || duration <= absl::ZeroDuration()) {
    return BadTimeout(kTimeoutHeader, timeout);
  }
  return duration;
}

Caller CallerOf(const HttpRequest& request, const char* api) {
  const size_t values = MemoryOfValues(request.body);
  Caller caller = {.token = std::string(BearerToken(request.Header("authorization"))),
                   .certificate_name = request.certificate_name,
                   .peer = request.peer,
                   .request_id = std::string(request.Header("x-request-id")),
                   .trace_parent = std::string(request.Header("traceparent")),
                   .http_method = request.method,
                   .http_route = request.route,
                   .message_bytes = request.body.size(),
                   .more_bytes = values - std::min(values, MemoryOfMessage(request.body.size())),
                   .api = api};
  const absl::StatusOr<absl::Duration> timeout = TimeoutOf(request);
  caller.wrong = timeout.status();
  caller.deadline = absl::Now() + timeout.value_or(absl::InfiniteDuration());
  return caller;
}

HttpHeaders HeadersOf(const CallEnd& end) {
  HttpHeaders headers;
  if (!end.request_id.empty()) headers.emplace_back("X-Request-Id", end.request_id);
  const int code = HttpCodeOf(end.status);
  if (code == 401) headers.emplace_back("WWW-Authenticate", "Bearer");
  if (code == 429 || code == 503) {  // in whole seconds, at least one
    const int64_t seconds = absl::ToInt64Seconds(absl::Ceil(end.retry_delay, absl::Seconds(1)));
    headers.emplace_back("Retry-After", std::to_string(std::max<int64_t>(seconds, 1)));
  }
  return headers;
}

HttpResponse Counted(const CallEnd& end, HttpResponse response) {
  if (end.held == nullptr) return response;
  end.held->Set(response.body.size());
  response.held = end.held;
  return response;
}

HttpResponse ToHttpError(const CallEnd& end) {
  const absl::StatusOr<std::string> body = ToJson(ToRpcStatus(end.status, end.retry_delay));
  if (!body.ok()) return RpcStatusBody(500, "internal error");
  return {.code = HttpCodeOf(end.status),
          .content_type = kJson,
          .body = *body,
          .headers = HeadersOf(end)};
}

void AnswerOverHttp(const ApiContext& context, const Method& method, Caller caller,
                    std::shared_ptr<HttpAnswer> answer, UnaryExchange::Parse read,
                    RenderEnd render) {
  if (const absl::Status loaded = context.loaded(); !loaded.ok()) {
    return answer->Send(render({.status = loaded}, nullptr));
  }
  const auto call =
      std::make_shared<UnaryHttpCall>(UnaryHttpCall{std::move(answer), std::move(render)});
  call->exchange =
      method.exchange(context.parts, method.name, std::move(caller),
                      [&call = *call](const CallEnd& end, UnaryExchange::Message* response) {
                        call.answer->Send(call.render(end, response));
                        call.self = nullptr;
                      });
  StartCall(call, read);
}

void TranslateOverHttp(const ApiContext& context, const char* api, const HttpRequest& http,
                       std::shared_ptr<HttpAnswer> answer,
                       absl::FunctionRef<absl::StatusOr<v1::TranslateRequest>()> read,
                       HttpRender render) {
  static const Method& method = MethodOf("Translate");
  const auto fill = [&](UnaryExchange::Message* request) -> absl::Status {
    ASSIGN_OR_RETURN(static_cast<v1::TranslateRequest&>(*request), read());
    return absl::OkStatus();
  };
  AnswerOverHttp(
      context, method, CallerOf(http, api), std::move(answer), fill,
      [render = std::move(render)](const CallEnd& end, UnaryExchange::Message* response) {
        if (response == nullptr) return render(end, {});
        return render(end, std::move(static_cast<v1::TranslateResponse&>(*response)));
      });
}

}  // namespace dragoman
