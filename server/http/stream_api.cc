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
  StreamedHttpCall(const ServerParts* parts, Caller caller, std::shared_ptr<HttpAnswer> its_answer,
                   StreamFormat its_format)
      : request_id(caller.request_id),
        answer(std::move(its_answer)),
        format(std::move(its_format)),
        exchange(std::in_place, parts, std::move(caller), [this] { Pull(); }) {}

  // Writes the next message, if there is one already.  Called by the exchange when there is one, or
  // by the connection when the one before it is sent: never by both.
  void Pull() {
    StreamEvent event = exchange->Next();
    for (; event.message.has_value(); event = exchange->Next()) {
      const std::string text = format.event(*event.message);
      if (text.empty()) continue;
      Begin();
      return answer->Write(text, [this] { Pull(); });
    }
    if (!event.end.has_value()) return;
    End(*event.end);
    self = nullptr;
  }

  void Begin() {
    if (std::exchange(begun, true)) return;
    answer->Begin({.content_type = kEventStream,
                   .headers = {{"X-Request-Id", request_id}, {"X-Accel-Buffering", "no"}}});
  }

  void End(const CallEnd& end) {
    if (!end.status.ok() && !begun) return answer->Send(format.error(end));
    Begin();
    if (const std::string last = format.last(end); !last.empty()) answer->Write(last, nullptr);
    answer->End();
  }

  const std::string request_id;
  const std::shared_ptr<HttpAnswer> answer;
  const StreamFormat format;
  bool begun = false;
  std::optional<TranslateStreamExchange> exchange;
  std::shared_ptr<StreamedHttpCall> self;
};

}  // namespace

void StreamOverHttp(const ApiContext& context, const char* api, const HttpRequest& http,
                    std::shared_ptr<HttpAnswer> answer,
                    absl::FunctionRef<absl::StatusOr<v1::TranslateRequest>()> read,
                    StreamFormat format) {
  if (const absl::Status loaded = context.loaded(); !loaded.ok()) {
    return answer->Send(format.error({.status = loaded}));
  }
  Caller caller = CallerOf(http, api);
  // The head of the answer contains the id, and is sent before the end of the call.
  if (!IsRequestId(caller.request_id)) caller.request_id = NewRequestId();
  StartCall(std::make_shared<StreamedHttpCall>(context.parts, std::move(caller), std::move(answer),
                                               std::move(format)),
            read);
}

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
    StreamOverHttp(
        context, kHttpApi, http, std::move(answer),
        [&] { return ReadJson<v1::TranslateRequest>(http); },
        {.event = EventOf,
         .last = [](const CallEnd& end) { return end.status.ok() ? "" : ErrorEventOf(end); },
         .error = ToHttpError});
  };
  router->Add(std::move(route));
}

}  // namespace dragoman
