#include "server/http/api.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "engine/base/status.h"
#include "server/http/http_call.h"
#include "server/http/json.h"

namespace dragoman {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// The number of versions that a message has; null: it has none.
const FieldDescriptor* VersionField(const Message& message) {
  const FieldDescriptor* const field = message.GetDescriptor()->FindFieldByName("version");
  const bool counts = field != nullptr && field->cpp_type() == FieldDescriptor::CPPTYPE_INT64;
  return counts ? field : nullptr;
}

HttpResponse ToHttp(const CallEnd& end, const Message* message) {
  if (!end.status.ok()) return ToHttpError(end);
  absl::StatusOr<std::string> body = ToJson(*message);
  if (!body.ok()) return RpcStatusBody(500, "internal error");
  HttpResponse response = {
      .content_type = kJson, .body = *std::move(body), .headers = HeadersOf(end)};
  if (const FieldDescriptor* const version = VersionField(*message)) {
    const int64_t number = message->GetReflection()->GetInt64(*message, version);
    response.headers.emplace_back("ETag", absl::StrCat("\"", number, "\""));
  }
  return Counted(end, std::move(response));
}

// `If-Match: "3"` is the version in the body: only that one is replaced.
absl::Status ReadIfMatch(const HttpRequest& http, Message* message) {
  const std::string header(http.Header("if-match"));
  absl::string_view tag = header;
  const FieldDescriptor* const field = VersionField(*message);
  if (tag.empty() || tag == "*" || field == nullptr) return absl::OkStatus();
  int64_t version = 0;
  const bool quoted = absl::ConsumePrefix(&tag, "\"") && absl::ConsumeSuffix(&tag, "\"");
  if (!quoted || !absl::SimpleAtoi(tag, &version) || version < 1) {
    return InvalidField("If-Match", "is no ETag of this server, such as \"3\"");
  }
  message->GetReflection()->SetInt64(message, field, version);
  return absl::OkStatus();
}

// The numbers of a request that has no body: ?start=1000&limit=100.
absl::Status ReadNumbers(const std::string& query, Message* request) {
  HttpHeaders numbers;
  if (!ParseForm(query, &numbers)) return InvalidField("query", "is malformed");
  for (const auto& [name, value] : numbers) {
    const FieldDescriptor* const field = request->GetDescriptor()->FindFieldByName(name);
    if (field == nullptr || field->cpp_type() != FieldDescriptor::CPPTYPE_INT32) continue;
    int32_t number = 0;
    if (!absl::SimpleAtoi(value, &number)) return InvalidField(name, "is not a number");
    request->GetReflection()->SetInt32(request, field, number);
  }
  return absl::OkStatus();
}

// The field that is a part of the path, if there is one.
void ReadPath(std::string_view pattern, const std::string& path, Message* request) {
  const size_t begin = pattern.find('{'), end = pattern.find('}');
  if (begin == pattern.npos) return;
  const std::string_view in_braces = pattern.substr(begin + 1, end - begin - 1);
  const std::string name(in_braces.substr(0, in_braces.find('=')));
  const size_t after = pattern.size() - end - 1;
  request->GetReflection()->SetString(request, request->GetDescriptor()->FindFieldByName(name),
                                      path.substr(begin, path.size() - after - begin));
}

absl::Status ReadRequest(const Method& method, const HttpRequest& http, Message* request) {
  if (!method.has_body()) {
    const bool more_than_path = request->GetDescriptor()->field_count() > 1;
    if (more_than_path) RETURN_IF_ERROR(ReadNumbers(http.query, request));
  } else if (method.body == nullptr) {
    RETURN_IF_ERROR(FromJson(http.body, request));
  } else {
    const auto* const field = request->GetDescriptor()->FindFieldByName(method.body);
    Message* const body = request->GetReflection()->MutableMessage(request, field);
    RETURN_IF_ERROR(FromJson(http.body, body));
    RETURN_IF_ERROR(ReadIfMatch(http, body));
  }
  ReadPath(method.path, http.path, request);
  return absl::OkStatus();
}

}  // namespace

HttpRoute RouteOf(const Method& method) {
  HttpRoute route = {.method = method.verb, .path = method.path};
  route.path = absl::StrReplaceAll(route.path, {{"{name=**}", "**"}, {"{id}", "*"}});
  if (method.has_body()) route.body_types = {kJson};
  return route;
}

void AddApi(const ApiContext& context, HttpRouter* router) {
  for (const Method& method : Methods()) {
    if (method.path == nullptr || method.exchange == nullptr) continue;
    HttpRoute route = RouteOf(method);
    route.handler = [context, &method](const HttpRequest& http,
                                       std::shared_ptr<HttpAnswer> answer) {
      AnswerOverHttp(
          context, method, CallerOf(http, kHttpApi), std::move(answer),
          [&](Message* request) { return ReadRequest(method, http, request); },
          [conditional = !http.Header("if-match").empty()](const CallEnd& end,
                                                           const Message* message) {
            HttpResponse response = ToHttp(end, message);
            const bool differs = conditional && absl::IsFailedPrecondition(end.status);
            if (differs) response.code = 412;  // Precondition Failed
            return response;
          });
    };
    router->Add(std::move(route));
  }
}

}  // namespace dragoman
