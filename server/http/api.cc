#include "server/http/api.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "engine/base/status.h"
#include "server/api/detect_languages.h"
#include "server/api/glossaries.h"
#include "server/api/list_models.h"
#include "server/api/memories.h"
#include "server/api/score_exchange.h"
#include "server/api/translate_exchange.h"
#include "server/http/http_call.h"
#include "server/http/json.h"

namespace dragoman {
namespace {

HttpResponse ToHttp(const CallEnd& end, const google::protobuf::Message& message) {
  if (!end.status.ok()) return ToHttpError(end);
  absl::StatusOr<std::string> body = ToJson(message);
  if (!body.ok()) return RpcStatusBody(500, "internal error");
  return Counted(end, {.content_type = kJson, .body = *std::move(body), .headers = HeadersOf(end)});
}

template <typename Exchange>
void AnswerLater(const ApiContext& context, const HttpRequest& http,
                 std::shared_ptr<HttpAnswer> answer) {
  AnswerOverHttp<Exchange>(
      context, kHttpApi, http, std::move(answer),
      [&] { return ReadJson<typename Exchange::Request>(http); },
      [](const CallEnd& end, const typename Exchange::Response& response) {
        return ToHttp(end, response);
      });
}

// Answers a call of `method`, a literal, by calling `answer_call`.
template <typename Request, typename Response>
void AnswerNow(const ApiContext& context, const char* method, const HttpRequest& http,
               const std::shared_ptr<HttpAnswer>& answer,
               UnaryMethod<Request, Response>* answer_call,
               absl::FunctionRef<absl::StatusOr<Request>()> read) {
  if (const absl::Status loaded = context.loaded(); !loaded.ok()) {
    return answer->Send(ToHttpError({.status = loaded}));
  }
  Call call(context.parts, method, CallerOf(http, kHttpApi));
  const absl::StatusOr<Response> response = answer_call(read, *context.parts, &call);
  answer->Send(ToHttp(call.End(response.status()), response.ok() ? *response : Response()));
}

void DetectLanguage(const ApiContext& context, const HttpRequest& http,
                    std::shared_ptr<HttpAnswer> answer) {
  AnswerNow<v1::DetectLanguageRequest>(context, "DetectLanguage", http, answer,
                                       dragoman::DetectLanguage,
                                       [&] { return ReadJson<v1::DetectLanguageRequest>(http); });
}

void ListModels(const ApiContext& context, const HttpRequest& http,
                std::shared_ptr<HttpAnswer> answer) {
  AnswerNow<v1::ListModelsRequest>(context, "ListModels", http, answer, dragoman::ListModels,
                                   [] { return v1::ListModelsRequest(); });
}

void GetModel(const ApiContext& context, const HttpRequest& http,
              std::shared_ptr<HttpAnswer> answer) {
  AnswerNow<v1::GetModelRequest>(context, "GetModel", http, answer, dragoman::GetModel, [&] {
    v1::GetModelRequest request;
    request.set_name(http.path.substr(sizeof("/v1/models/") - 1));
    return request;
  });
}

constexpr char kGlossaries[] = "/v1/glossaries/";

// The id in the path of a glossary, or of its entries.
std::string GlossaryId(const HttpRequest& http) {
  constexpr std::string_view kEntries = "/entries";
  std::string id = http.path.substr(sizeof(kGlossaries) - 1);
  if (id.ends_with(kEntries)) id.resize(id.size() - kEntries.size());
  return id;
}

// A request that has nothing but the id.
template <typename Request>
absl::StatusOr<Request> ReadGlossaryId(const HttpRequest& http) {
  Request request;
  request.set_id(GlossaryId(http));
  return request;
}

// The body of these is a Glossary.
void CreateGlossary(const ApiContext& context, const HttpRequest& http,
                    std::shared_ptr<HttpAnswer> answer) {
  const auto read = [&]() -> absl::StatusOr<v1::CreateGlossaryRequest> {
    v1::CreateGlossaryRequest request;
    ASSIGN_OR_RETURN(*request.mutable_glossary(), ReadJson<v1::Glossary>(http));
    return request;
  };
  AnswerNow<v1::CreateGlossaryRequest>(context, "CreateGlossary", http, answer,
                                       dragoman::CreateGlossary, read);
}

void ReplaceGlossary(const ApiContext& context, const HttpRequest& http,
                     std::shared_ptr<HttpAnswer> answer) {
  const auto read = [&]() -> absl::StatusOr<v1::ReplaceGlossaryRequest> {
    v1::ReplaceGlossaryRequest request;
    ASSIGN_OR_RETURN(*request.mutable_glossary(), ReadJson<v1::Glossary>(http));
    request.set_id(GlossaryId(http));
    return request;
  };
  AnswerNow<v1::ReplaceGlossaryRequest>(context, "ReplaceGlossary", http, answer,
                                        dragoman::ReplaceGlossary, read);
}

void ListGlossaries(const ApiContext& context, const HttpRequest& http,
                    std::shared_ptr<HttpAnswer> answer) {
  AnswerNow<v1::ListGlossariesRequest>(context, "ListGlossaries", http, answer,
                                       dragoman::ListGlossaries,
                                       [] { return v1::ListGlossariesRequest(); });
}

void GetGlossary(const ApiContext& context, const HttpRequest& http,
                 std::shared_ptr<HttpAnswer> answer) {
  AnswerNow<v1::GetGlossaryRequest>(context, "GetGlossary", http, answer, dragoman::GetGlossary,
                                    [&] { return ReadGlossaryId<v1::GetGlossaryRequest>(http); });
}

void GetGlossaryEntries(const ApiContext& context, const HttpRequest& http,
                        std::shared_ptr<HttpAnswer> answer) {
  AnswerNow<v1::GetGlossaryRequest>(context, "GetGlossaryEntries", http, answer,
                                    dragoman::GetGlossaryEntries,
                                    [&] { return ReadGlossaryId<v1::GetGlossaryRequest>(http); });
}

void DeleteGlossary(const ApiContext& context, const HttpRequest& http,
                    std::shared_ptr<HttpAnswer> answer) {
  AnswerNow<v1::DeleteGlossaryRequest>(
      context, "DeleteGlossary", http, answer, dragoman::DeleteGlossary,
      [&] { return ReadGlossaryId<v1::DeleteGlossaryRequest>(http); });
}

// The id in the path of a translation memory, or of its segments.
template <typename Request>
Request ReadMemoryId(const HttpRequest& http) {
  constexpr std::string_view kMemories = "/v1/memories/", kSegments = "/segments";
  std::string id = http.path.substr(kMemories.size());
  if (id.ends_with(kSegments)) id.resize(id.size() - kSegments.size());
  Request request;
  request.set_id(std::move(id));
  return request;
}

void CreateMemory(const ApiContext& context, const HttpRequest& http,
                  std::shared_ptr<HttpAnswer> answer) {
  AnswerNow<v1::CreateMemoryRequest>(context, "CreateMemory", http, answer, dragoman::CreateMemory,
                                     [&] { return ReadJson<v1::CreateMemoryRequest>(http); });
}

void ListMemories(const ApiContext& context, const HttpRequest& http,
                  std::shared_ptr<HttpAnswer> answer) {
  AnswerNow<v1::ListMemoriesRequest>(context, "ListMemories", http, answer, dragoman::ListMemories,
                                     [] { return v1::ListMemoriesRequest(); });
}

void GetMemory(const ApiContext& context, const HttpRequest& http,
               std::shared_ptr<HttpAnswer> answer) {
  AnswerNow<v1::GetMemoryRequest>(context, "GetMemory", http, answer, dragoman::GetMemory,
                                  [&] { return ReadMemoryId<v1::GetMemoryRequest>(http); });
}

// The page is in the query: ?start=1000&limit=100.
void GetMemorySegments(const ApiContext& context, const HttpRequest& http,
                       std::shared_ptr<HttpAnswer> answer) {
  const auto read = [&]() -> absl::StatusOr<v1::GetMemorySegmentsRequest> {
    auto request = ReadMemoryId<v1::GetMemorySegmentsRequest>(http);
    HttpHeaders fields;
    if (!ParseForm(http.query, &fields)) return InvalidField("query", "is malformed");
    for (const auto& [name, value] : fields) {
      int32_t number = 0;
      if (name != "start" && name != "limit") continue;
      if (!absl::SimpleAtoi(value, &number)) return InvalidField(name, "is not a number");
      name == "start" ? request.set_start(number) : request.set_limit(number);
    }
    return request;
  };
  AnswerNow<v1::GetMemorySegmentsRequest>(context, "GetMemorySegments", http, answer,
                                          dragoman::GetMemorySegments, read);
}

// The body has the segments.
void LearnSegments(const ApiContext& context, const HttpRequest& http,
                   std::shared_ptr<HttpAnswer> answer) {
  const auto read = [&]() -> absl::StatusOr<v1::LearnSegmentsRequest> {
    ASSIGN_OR_RETURN(v1::LearnSegmentsRequest request, ReadJson<v1::LearnSegmentsRequest>(http));
    request.set_id(ReadMemoryId<v1::GetMemoryRequest>(http).id());
    return request;
  };
  AnswerNow<v1::LearnSegmentsRequest>(context, "LearnSegments", http, answer,
                                      dragoman::LearnSegments, read);
}

void DeleteMemory(const ApiContext& context, const HttpRequest& http,
                  std::shared_ptr<HttpAnswer> answer) {
  AnswerNow<v1::DeleteMemoryRequest>(context, "DeleteMemory", http, answer, dragoman::DeleteMemory,
                                     [&] { return ReadMemoryId<v1::DeleteMemoryRequest>(http); });
}

}  // namespace

void AddApi(const ApiContext& context, HttpRouter* router) {
  using Handler = void (*)(const ApiContext&, const HttpRequest&, std::shared_ptr<HttpAnswer>);
  const auto add = [&](const char* method, const char* path, Handler handler) {
    HttpRoute route = {
        .method = method,
        .path = path,
        .handler = [context, handler](const HttpRequest& http, std::shared_ptr<HttpAnswer> answer) {
          handler(context, http, std::move(answer));
        }};
    if (route.method == "POST" || route.method == "PUT") route.body_types = {kJson};
    router->Add(std::move(route));
  };
  add("POST", "/v1/translate", AnswerLater<TranslateExchange>);
  add("POST", "/v1/score", AnswerLater<ScoreExchange>);
  add("POST", "/v1/tokenize", AnswerLater<TokenizeExchange>);
  add("POST", "/v1/detect", DetectLanguage);
  add("GET", "/v1/models", ListModels);
  add("GET", "/v1/models/**", GetModel);  // names may contain slashes
  add("POST", "/v1/glossaries", CreateGlossary);
  add("GET", "/v1/glossaries", ListGlossaries);
  add("GET", "/v1/glossaries/*/entries", GetGlossaryEntries);
  add("GET", "/v1/glossaries/*", GetGlossary);
  add("PUT", "/v1/glossaries/*", ReplaceGlossary);
  add("DELETE", "/v1/glossaries/*", DeleteGlossary);
  add("POST", "/v1/memories", CreateMemory);
  add("GET", "/v1/memories", ListMemories);
  add("GET", "/v1/memories/*/segments", GetMemorySegments);
  add("POST", "/v1/memories/*/segments", LearnSegments);
  add("GET", "/v1/memories/*", GetMemory);
  add("DELETE", "/v1/memories/*", DeleteMemory);
}

}  // namespace dragoman
