#include "server/observe/otlp.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "engine/base/json.h"
#include "server/base/errors.h"
#include "server/base/methods.h"

namespace dragoman {
namespace {

using Json = nlohmann::ordered_json;

// OTLP's SpanKind and StatusCode; its JSON has enums as numbers.
constexpr int kInternal = 1, kServer = 2;
constexpr int kError = 2;

// 64-bit numbers are strings in protobuf's JSON.
std::string Nanos(absl::Time time) { return absl::StrCat(absl::ToUnixNanos(time)); }

Json Attribute(const char* key, const std::string& value) {
  return {{"key", key}, {"value", {{"stringValue", value}}}};
}
Json Attribute(const char* key, int64_t value) {
  return {{"key", key}, {"value", {{"intValue", absl::StrCat(value)}}}};
}

// The service and the method of a call over gRPC.
std::pair<std::string, std::string> RpcOf(const TracedCall& call) {
  return {ServiceOf(call.method), std::string(AdminMethodOf(call.method).value_or(call.method))};
}

Json AttributesOf(const TracedCall& call) {
  Json attributes = Json::array();
  if (call.http_method.empty()) {
    const auto [service, method] = RpcOf(call);
    attributes.push_back(Attribute("rpc.system", "grpc"));
    attributes.push_back(Attribute("rpc.service", service));
    attributes.push_back(Attribute("rpc.method", method));
    attributes.push_back(Attribute("rpc.grpc.status_code", static_cast<int64_t>(call.code)));
  } else {
    attributes.push_back(Attribute("http.request.method", call.http_method));
    attributes.push_back(Attribute("http.route", call.http_route));
    if (call.http_code != 0) {
      attributes.push_back(Attribute("http.response.status_code", call.http_code));
    }
    attributes.push_back(Attribute("dragoman.method", call.method));
  }
  if (call.code != absl::StatusCode::kOk) {
    attributes.push_back(Attribute("error.type", absl::StatusCodeToString(call.code)));
  }
  if (!call.principal.empty()) attributes.push_back(Attribute("enduser.id", call.principal));
  if (!call.model.empty()) attributes.push_back(Attribute("dragoman.model", call.model));
  attributes.push_back(Attribute("dragoman.api", call.api));
  attributes.push_back(Attribute("dragoman.texts", call.texts));
  attributes.push_back(Attribute("dragoman.source_tokens", call.source_tokens));
  attributes.push_back(Attribute("dragoman.target_tokens", call.target_tokens));
  return attributes;
}

Json SpanOf(const SpanIds& ids, const std::string& name, int kind, absl::Time start,
            absl::Time end) {
  Json span = {{"traceId", ids.trace_id}, {"spanId", ids.span_id}};
  if (!ids.parent_id.empty()) span["parentSpanId"] = ids.parent_id;
  span["name"] = name;
  span["kind"] = kind;
  span["startTimeUnixNano"] = Nanos(start);
  span["endTimeUnixNano"] = Nanos(end);
  return span;
}

// A part's own model and size; those of the call are sums.
void AddPart(const TracedCall& call, const TracedPart& part, Json* spans) {
  Json span = SpanOf({call.ids.trace_id, NewSpanId(), call.ids.span_id}, "part", kInternal,
                     part.start, part.end);
  Json attributes = Json::array();
  if (!part.model.empty()) attributes.push_back(Attribute("dragoman.model", part.model));
  attributes.push_back(Attribute("dragoman.source_tokens", part.source_tokens));
  attributes.push_back(Attribute("dragoman.target_tokens", part.target_tokens));
  if (part.code != absl::StatusCode::kOk) {
    attributes.push_back(Attribute("error.type", absl::StatusCodeToString(part.code)));
  }
  span["attributes"] = std::move(attributes);
  if (IsServersError(part.code)) span["status"] = {{"code", kError}};
  spans->push_back(std::move(span));
}

bool HasStages(const TracedCall& call) { return call.translated >= call.start; }

void AddSpans(const TracedCall& call, Json* spans) {
  const std::string name = call.http_method.empty()
                               ? FullNameOf(call.method)
                               : absl::StrCat(call.http_method, " ", call.http_route);
  Json whole = SpanOf(call.ids, name, kServer, call.start, call.end);
  whole["attributes"] = AttributesOf(call);
  whole["status"] = Json::object();
  if (IsServersError(call.code)) whole["status"]["code"] = kError;
  spans->push_back(std::move(whole));
  for (const TracedPart& part : call.parts) AddPart(call, part, spans);
  if (!HasStages(call)) return;
  const absl::Time decoded = std::min(call.translated, call.end);
  const absl::Time encoded = std::max(decoded - call.decode, call.start);
  const absl::Time queued = std::max(encoded - call.encode, call.start);
  const absl::Time came = std::max(queued - call.queue, call.start);
  for (const auto& [stage, start, end] : {std::tuple("queue", came, queued),
                                          {"encode", queued, encoded},
                                          {"decode", encoded, decoded},
                                          {"answer", decoded, call.end}}) {
    const SpanIds ids = {call.ids.trace_id, NewSpanId(), call.ids.span_id};
    spans->push_back(SpanOf(ids, stage, kInternal, start, end));
  }
}

// What all spans of this process have in common.
const Json& Resource() {
  static const Json& resource = *new Json(
      {{"attributes", Json::array({Attribute("service.name", "dragoman-server"),
                                   Attribute("service.version", DRAGOMAN_VERSION),
                                   Attribute("service.instance.id", NewRequestId()),
                                   Attribute("telemetry.sdk.name", "dragoman"),
                                   Attribute("telemetry.sdk.language", "cpp"),
                                   Attribute("telemetry.sdk.version", DRAGOMAN_VERSION)})}});
  return resource;
}

}  // namespace

std::string OtlpBody(const std::vector<TracedCall>& calls) {
  Json spans = Json::array();
  for (const TracedCall& call : calls) AddSpans(call, &spans);
  Json scope = {{"scope", {{"name", "dragoman"}, {"version", DRAGOMAN_VERSION}}}};
  scope["spans"] = std::move(spans);
  Json resource = {{"resource", Resource()}};
  resource["scopeSpans"].push_back(std::move(scope));
  Json body;
  body["resourceSpans"].push_back(std::move(resource));
  return WriteJson(body);
}

int64_t SpanCount(const TracedCall& call) {
  return (HasStages(call) ? 5 : 1) + static_cast<int64_t>(call.parts.size());
}

int64_t RejectedSpans(const std::string& answer) {
  const auto parsed = nlohmann::json::parse(answer, nullptr, /*allow_exceptions=*/false);
  const nlohmann::json& rejected = Member(Member(parsed, "partialSuccess"), "rejectedSpans");
  int64_t number = 0;
  if (rejected.is_number_integer()) return std::max<int64_t>(rejected.get<int64_t>(), 0);
  if (rejected.is_string() && absl::SimpleAtoi(rejected.get<std::string>(), &number)) {
    return std::max<int64_t>(number, 0);
  }
  return 0;
}

}  // namespace dragoman
