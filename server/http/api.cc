#include "server/http/api.h"

#include <utility>

#include "engine/base/status.h"
#include "server/api/detect_languages.h"
#include "server/api/list_models.h"
#include "server/api/score_exchange.h"
#include "server/http/json.h"

namespace dragoman {
namespace {

constexpr char kDoor[] = "http";

HttpResponse ToHttp(const CallEnd& end, const google::protobuf::Message& message) {
  if (!end.status.ok()) return ToHttpError(end);
  absl::StatusOr<std::string> body = ToJson(message);
  if (!body.ok()) return RpcStatusBody(500, "internal error");
  return Counted(end, {.content_type = kJson, .body = *std::move(body), .headers = HeadersOf(end)});
}

// The message in the body of a request.
template <typename Message>
absl::StatusOr<Message> Read(const HttpRequest& http) {
  Message message;
  RETURN_IF_ERROR(FromJson(http.body, &message));
  return message;
}

void Translate(const HttpDoor& door, const HttpRequest& http, std::shared_ptr<HttpAnswer> answer) {
  TranslateOverHttp(
      door, kDoor, http, std::move(answer), [&] { return Read<v1::TranslateRequest>(http); },
      [](const CallEnd& end, const v1::TranslateResponse& response) {
        return ToHttp(end, response);
      });
}

// Answers a call at once with `answer_call`, for the caller that the headers describe.
void AnswerAtOnce(const HttpDoor& door, const char* method, const HttpRequest& http,
                  const std::shared_ptr<HttpAnswer>& answer,
                  const std::function<absl::Status(Call* call, CallSize* size)>& answer_call,
                  const google::protobuf::Message& message) {
  if (const absl::Status loaded = door.loaded(); !loaded.ok()) {
    return answer->Send(ToHttpError({.status = loaded}));
  }
  absl::StatusOr<Caller> caller = CallerOf(http, kDoor);
  absl::Status status = caller.status();
  Call call(door.parts, method, caller.ok() ? *std::move(caller) : Caller{.door = kDoor});
  CallSize size;
  if (status.ok()) status = answer_call(&call, &size);
  answer->Send(ToHttp(call.End(status, size), message));
}

void Tokenize(const HttpDoor& door, const HttpRequest& http, std::shared_ptr<HttpAnswer> answer) {
  v1::TokenizeResponse response;
  const auto tokenize = [&](Call* call, CallSize* size) -> absl::Status {
    ASSIGN_OR_RETURN(response, dragoman::Tokenize([&] { return Read<v1::TokenizeRequest>(http); },
                                                  call, *door.parts, size));
    return absl::OkStatus();
  };
  AnswerAtOnce(door, "Tokenize", http, answer, tokenize, response);
}

void DetectLanguage(const HttpDoor& door, const HttpRequest& http,
                    std::shared_ptr<HttpAnswer> answer) {
  v1::DetectLanguageResponse response;
  const auto detect = [&](Call* call, CallSize* size) -> absl::Status {
    ASSIGN_OR_RETURN(response,
                     dragoman::DetectLanguage([&] { return Read<v1::DetectLanguageRequest>(http); },
                                              *door.parts, call, size));
    return absl::OkStatus();
  };
  AnswerAtOnce(door, "DetectLanguage", http, answer, detect, response);
}

void ListModels(const HttpDoor& door, const HttpRequest& http, std::shared_ptr<HttpAnswer> answer) {
  v1::ListModelsResponse response;
  const auto list = [&](Call* call, CallSize*) -> absl::Status {
    ASSIGN_OR_RETURN(
        response, dragoman::ListModels([] { return v1::ListModelsRequest(); }, *door.parts, call));
    return absl::OkStatus();
  };
  AnswerAtOnce(door, "ListModels", http, answer, list, response);
}

void GetModel(const HttpDoor& door, const HttpRequest& http, std::shared_ptr<HttpAnswer> answer) {
  v1::Model response;
  v1::GetModelRequest request;
  request.set_name(http.path.substr(sizeof("/v1/models/") - 1));
  const auto get = [&](Call* call, CallSize*) -> absl::Status {
    ASSIGN_OR_RETURN(response, dragoman::GetModel([&] { return request; }, *door.parts, call));
    return absl::OkStatus();
  };
  AnswerAtOnce(door, "GetModel", http, answer, get, response);
}

// One Score whose caller may go away.  Lives until its exchange has ended.
class HttpScore {
 public:
  HttpScore(const ServerParts* parts, Caller caller, std::shared_ptr<HttpAnswer> answer)
      : answer_(std::move(answer)),
        exchange_(parts, std::move(caller),
                  [this](const CallEnd& end, const v1::ScoreResponse& response) {
                    answer_->Send(ToHttp(end, response));
                    self_ = nullptr;
                  }) {}

  static void Start(const std::shared_ptr<HttpScore>& call, const HttpRequest& http) {
    call->self_ = call;
    call->exchange_.Start([&] { return Read<v1::ScoreRequest>(http); });
    call->answer_->OnGone([weak = std::weak_ptr(call)] {
      if (const auto gone = weak.lock()) gone->exchange_.Cancel();
    });
  }

 private:
  const std::shared_ptr<HttpAnswer> answer_;
  ScoreExchange exchange_;
  std::shared_ptr<HttpScore> self_;
};

void Score(const HttpDoor& door, const HttpRequest& http, std::shared_ptr<HttpAnswer> answer) {
  absl::StatusOr<Caller> caller = CallerOf(http, kDoor);
  if (!door.loaded().ok() || !caller.ok()) {
    const auto refuse = [](Call*, CallSize*) { return absl::OkStatus(); };
    return AnswerAtOnce(door, "Score", http, answer, refuse, v1::ScoreResponse());
  }
  HttpScore::Start(std::make_shared<HttpScore>(door.parts, *std::move(caller), std::move(answer)),
                   http);
}

}  // namespace

void AddApi(const HttpDoor& door, HttpRouter* router) {
  using Handler = void (*)(const HttpDoor&, const HttpRequest&, std::shared_ptr<HttpAnswer>);
  const auto add = [&](const char* method, const char* path, Handler handler) {
    HttpRoute route = {
        .method = method,
        .path = path,
        .handler = [door, handler](const HttpRequest& http, std::shared_ptr<HttpAnswer> answer) {
          handler(door, http, std::move(answer));
        }};
    if (route.method == "POST") route.body_types = {kJson};
    router->Add(std::move(route));
  };
  add("POST", "/v1/translate", Translate);
  add("POST", "/v1/score", Score);
  add("POST", "/v1/tokenize", Tokenize);
  add("POST", "/v1/detect", DetectLanguage);
  add("GET", "/v1/models", ListModels);
  add("GET", "/v1/models/*", GetModel);
}

}  // namespace dragoman
