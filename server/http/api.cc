#include "server/http/api.h"

#include <utility>

#include "server/api/detect_languages.h"
#include "server/api/list_models.h"
#include "server/api/score_exchange.h"
#include "server/api/translate_exchange.h"
#include "server/http/http_call.h"
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

template <typename Exchange>
void AnswerLater(const HttpDoor& door, const HttpRequest& http,
                 std::shared_ptr<HttpAnswer> answer) {
  AnswerOverHttp<Exchange>(
      door, kDoor, http, std::move(answer),
      [&] { return ReadJson<typename Exchange::Request>(http); },
      [](const CallEnd& end, const typename Exchange::Response& response) {
        return ToHttp(end, response);
      });
}

// Answers a call of `method`, a literal, by calling `answer_call`.
template <typename Request, typename Response>
void AnswerNow(const HttpDoor& door, const char* method, const HttpRequest& http,
               const std::shared_ptr<HttpAnswer>& answer,
               UnaryMethod<Request, Response>* answer_call,
               absl::FunctionRef<absl::StatusOr<Request>()> read) {
  if (const absl::Status loaded = door.loaded(); !loaded.ok()) {
    return answer->Send(ToHttpError({.status = loaded}));
  }
  Call call(door.parts, method, CallerOf(http, kDoor));
  const absl::StatusOr<Response> response = answer_call(read, *door.parts, &call);
  answer->Send(ToHttp(call.End(response.status()), response.ok() ? *response : Response()));
}

void Tokenize(const HttpDoor& door, const HttpRequest& http, std::shared_ptr<HttpAnswer> answer) {
  AnswerNow<v1::TokenizeRequest>(door, "Tokenize", http, answer, dragoman::Tokenize,
                                 [&] { return ReadJson<v1::TokenizeRequest>(http); });
}

void DetectLanguage(const HttpDoor& door, const HttpRequest& http,
                    std::shared_ptr<HttpAnswer> answer) {
  AnswerNow<v1::DetectLanguageRequest>(door, "DetectLanguage", http, answer,
                                       dragoman::DetectLanguage,
                                       [&] { return ReadJson<v1::DetectLanguageRequest>(http); });
}

void ListModels(const HttpDoor& door, const HttpRequest& http, std::shared_ptr<HttpAnswer> answer) {
  AnswerNow<v1::ListModelsRequest>(door, "ListModels", http, answer, dragoman::ListModels,
                                   [] { return v1::ListModelsRequest(); });
}

void GetModel(const HttpDoor& door, const HttpRequest& http, std::shared_ptr<HttpAnswer> answer) {
  AnswerNow<v1::GetModelRequest>(door, "GetModel", http, answer, dragoman::GetModel, [&] {
    v1::GetModelRequest request;
    request.set_name(http.path.substr(sizeof("/v1/models/") - 1));
    return request;
  });
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
  add("POST", "/v1/translate", AnswerLater<TranslateExchange>);
  add("POST", "/v1/score", AnswerLater<ScoreExchange>);
  add("POST", "/v1/tokenize", Tokenize);
  add("POST", "/v1/detect", DetectLanguage);
  add("GET", "/v1/models", ListModels);
  add("GET", "/v1/models/*", GetModel);
}

}  // namespace dragoman
