#include "server/http/stream_api.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/api/stream_exchange.h"
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

// One TranslateStream over HTTP.
struct StreamedHttpCall {
  StreamedHttpCall(const ServerParts* parts, Caller caller, std::shared_ptr<HttpAnswer> its_answer)
      : request_id(caller.request_id),
        answer(std::move(its_answer)),
        exchange(std::in_place, parts, std::move(caller), [this] { Pull(); }) {}

  // Writes the next message, if there is one already.  Called by the exchange when there is one, or
  // by the connection when the one before it is sent: never by both.
  void Pull() {
    StreamEvent event = exchange->Next();
    if (event.message.has_value()) {
      Write(*event.message);
    } else if (event.end.has_value()) {
      End(*event.end);
      self = nullptr;
    }
  }

  void Begin() {
    if (std::exchange(begun, true)) return;
    answer->Begin({.content_type = kEventStream,
                   .headers = {{"X-Request-Id", request_id}, {"X-Accel-Buffering", "no"}}});
  }

  void Write(const v1::TranslateStreamResponse& message) {
    Begin();
    answer->Write(EventOf(message), [this] { Pull(); });
  }

  void End(const CallEnd& end) {
    if (!end.status.ok() && !begun) return answer->Send(ToHttpError(end));
    Begin();
    if (!end.status.ok()) answer->Write(ErrorEventOf(end), nullptr);
    answer->End();
  }

  const std::string request_id;
  const std::shared_ptr<HttpAnswer> answer;
  bool begun = false;
  std::optional<TranslateStreamExchange> exchange;
  std::shared_ptr<StreamedHttpCall> self;
};

void TranslateStream(const ApiContext& context, const HttpRequest& http,
                     std::shared_ptr<HttpAnswer> answer) {
  if (const absl::Status loaded = context.loaded(); !loaded.ok()) {
    return answer->Send(ToHttpError({.status = loaded}));
  }
  Caller caller = CallerOf(http, kHttpApi);
  // The head of the answer contains the id, and is sent before the end of the call.
  if (!IsRequestId(caller.request_id)) caller.request_id = NewRequestId();
  StartCall(std::make_shared<StreamedHttpCall>(context.parts, std::move(caller), std::move(answer)),
            [&] { return ReadJson<v1::TranslateRequest>(http); });
}

}  // namespace

std::string EventOf(const google::protobuf::Message& message) {
  const auto* const event = message.GetDescriptor()->FindOneofByName("event");
  const auto* const field = message.GetReflection()->GetOneofFieldDescriptor(message, event);
  return Event(field == nullptr ? "message" : field->name(), ToJson(message).value_or("{}"));
}

std::string ErrorEventOf(const CallEnd& end) {
  return Event("error", ToJson(ToRpcStatus(end.status, end.retry_delay)).value_or("{}"));
}

void AddStreamApi(const ApiContext& context, HttpRouter* router) {
  HttpRoute route = RouteOf(MethodOf("TranslateStream"));
  route.handler = [context](const HttpRequest& http, std::shared_ptr<HttpAnswer> answer) {
    TranslateStream(context, http, std::move(answer));
  };
  router->Add(std::move(route));
}

}  // namespace dragoman
