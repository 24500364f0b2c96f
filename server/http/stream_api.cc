#include "server/http/stream_api.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "server/api/stream_exchange.h"
#include "server/base/errors.h"
#include "server/http/json.h"
#include "server/observe/trace.h"

namespace dragoman {
namespace {

constexpr char kDoor[] = "http";

std::string Event(const std::string& name, const std::string& json) {
  return absl::StrCat("event: ", name, "\ndata: ", json, "\n\n");
}

// One TranslateStream over HTTP.  Lives until its exchange has ended.
class HttpTranslateStream {
 public:
  HttpTranslateStream(const ServerParts* parts, Caller caller, std::shared_ptr<HttpAnswer> answer)
      : request_id_(caller.request_id),
        answer_(std::move(answer)),
        exchange_(parts, "TranslateStream", std::move(caller), [this] { Pull(); }) {}

  static void Start(const std::shared_ptr<HttpTranslateStream>& call,
                    TranslateExchange::Parse read) {
    call->self_ = call;
    call->exchange_.Start(read);
    call->answer_->OnGone([weak = std::weak_ptr(call)] {
      if (const auto gone = weak.lock()) gone->exchange_.Cancel();
    });
  }

 private:
  // Writes the next message, if there is one already.  Called by the exchange when there is one, or
  // by the connection when the one before it is sent: never by both.
  void Pull() {
    StreamEvent event = exchange_.Next();
    if (event.message.has_value()) {
      Write(*event.message);
    } else if (event.end.has_value()) {
      End(*event.end);
      self_ = nullptr;
    }
  }

  void Begin() {
    if (std::exchange(begun_, true)) return;
    answer_->Begin({.content_type = kEventStream,
                    .headers = {{"X-Request-Id", request_id_}, {"X-Accel-Buffering", "no"}}});
  }

  void Write(const v1::TranslateStreamResponse& message) {
    Begin();
    answer_->Write(EventOf(message), [this] { Pull(); });
  }

  void End(const CallEnd& end) {
    if (!end.status.ok() && !begun_) return answer_->Send(ToHttpError(end));
    Begin();
    if (!end.status.ok()) answer_->Write(ErrorEventOf(end), nullptr);
    answer_->End();
  }

  const std::string request_id_;
  const std::shared_ptr<HttpAnswer> answer_;
  bool begun_ = false;
  TranslateStreamExchange exchange_;
  std::shared_ptr<HttpTranslateStream> self_;
};

void TranslateStream(const HttpDoor& door, const HttpRequest& http,
                     std::shared_ptr<HttpAnswer> answer) {
  if (const absl::Status loaded = door.loaded(); !loaded.ok()) {
    return answer->Send(ToHttpError({.status = loaded}));
  }
  absl::StatusOr<Caller> read_caller = CallerOf(http, kDoor);
  const absl::Status bad_header = read_caller.status();
  Caller caller = read_caller.ok() ? *std::move(read_caller) : Caller{.door = kDoor};
  // The head of the answer contains the id, and is sent before the end of the call.
  if (!IsRequestId(caller.request_id)) caller.request_id = NewRequestId();
  const auto parse = [&]() -> absl::StatusOr<v1::TranslateRequest> {
    RETURN_IF_ERROR(bad_header);
    v1::TranslateRequest request;
    RETURN_IF_ERROR(FromJson(http.body, &request));
    return request;
  };
  HttpTranslateStream::Start(
      std::make_shared<HttpTranslateStream>(door.parts, std::move(caller), std::move(answer)),
      parse);
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

void AddStreamApi(const HttpDoor& door, HttpRouter* router) {
  router->Add({.method = "POST",
               .path = "/v1/translate:stream",
               .handler =
                   [door](const HttpRequest& http, std::shared_ptr<HttpAnswer> answer) {
                     TranslateStream(door, http, std::move(answer));
                   },
               .body_types = {kJson}});
}

}  // namespace dragoman
