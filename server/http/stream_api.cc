#include "server/http/stream_api.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/errors.h"
#include "server/http/api.h"
#include "server/http/http_call.h"
#include "server/http/json.h"
#include "server/observe/trace.h"

namespace dragoman {
namespace {

std::string Event(const std::string& name, const std::string& json) {
  return absl::StrCat("event: ", name, "\ndata: ", json, "\n\n");
}

}  // namespace

void StreamOverHttp(const ApiContext& context, const char* api, const HttpRequest& http,
                    std::shared_ptr<HttpAnswer> answer,
                    absl::FunctionRef<absl::StatusOr<v1::TranslateRequest>()> read,
                    StreamFormat<TranslateStreamExchange> format) {
  if (const absl::Status loaded = context.loaded(); !loaded.ok()) {
    return answer->Send(format.error({.status = loaded}));
  }
  Caller caller = CallerOf(http, api);
  // The head of the answer contains the id, and is sent before the end of the call.
  if (!IsRequestId(caller.request_id)) caller.request_id = NewRequestId();
  format.head = [id = caller.request_id](const TranslateStreamExchange&) {
    return EventStreamHead(id);
  };
  const auto call = std::make_shared<StreamedHttpCall<TranslateStreamExchange>>(std::move(answer),
                                                                                std::move(format));
  call->Run(
      std::make_shared<TranslateStreamExchange>(context.parts, std::move(caller), call->Ready()),
      [&](TranslateStreamExchange* exchange) { exchange->Start(read); });
}

std::string EventOf(const google::protobuf::Message& message) {
  const auto* const event = message.GetDescriptor()->FindOneofByName("event");
  const auto* const field = message.GetReflection()->GetOneofFieldDescriptor(message, event);
  return Event(field == nullptr ? "message" : field->name(), ToJson(message).value_or("{}"));
}

std::string ErrorEventOf(const CallEnd& end) {
  return Event("error", ToJson(ToRpcStatus(end.status, end.retry_delay)).value_or("{}"));
}

HttpResponse EventStreamHead(const std::string& request_id) {
  return {.content_type = kEventStream,
          .headers = {{"X-Request-Id", request_id}, {"X-Accel-Buffering", "no"}}};
}

void AddStreamApi(const ApiContext& context, HttpRouter* router) {
  HttpRoute route = RouteOf(MethodOf("TranslateStream"));
  route.handler = [context](const HttpRequest& http, std::shared_ptr<HttpAnswer> answer) {
    StreamOverHttp(
        context, kHttpApi, http, std::move(answer),
        [&] { return ReadJson<v1::TranslateRequest>(http); },
        AsEvents<TranslateStreamExchange>("", ToHttpError));
  };
  router->Add(std::move(route));
}

}  // namespace dragoman
