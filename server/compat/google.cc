// Google's Cloud Translation API, basic edition
// (https://cloud.google.com/translate/docs/reference/rest/v2/translate), for which many languages
// have client libraries.
//
//   curl 'localhost:9464/language/translate/v2?q=Good+morning.&target=de&format=text'
//   {"data": {"translations": [{"translatedText": "Guten Morgen.", "detectedSourceLanguage":
//   "en"}]}}

#include <utility>

#include "engine/base/status.h"
#include "server/api/language_detector.h"
#include "server/compat/compat.h"
#include "server/compat/fields.h"

namespace dragoman {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kDoor[] = "google";

HttpResponse ErrorBody(int code, const std::string& name, const std::string& message) {
  return JsonResponse(
      code, {{"error",
              {{"code", code},
               {"message", message},
               {"status", name},
               {"errors", Json::array({{{"message", message},
                                        {"domain", "global"},
                                        {"reason", code < 500 ? "invalid" : "backendError"}}})}}}});
}

HttpResponse Error(const absl::Status& status) {
  return ErrorBody(HttpCodeOf(status), absl::StatusCodeToString(status.code()),
                   std::string(status.message()));
}

HttpResponse PlainError(int code, std::string_view message) {
  return ErrorBody(code, code == 404 ? "NOT_FOUND" : "INVALID_ARGUMENT", std::string(message));
}

struct TranslateCall {
  bool detect = false;
  bool model = false;  // whether one was requested
};

absl::StatusOr<v1::TranslateRequest> ReadTranslate(const CompatFields& fields,
                                                   TranslateCall* call) {
  ASSIGN_OR_RETURN(std::vector<std::string> texts, fields.Texts("q"));
  ASSIGN_OR_RETURN(const v1::Markup markup, FormatOf(fields, "html"));
  ASSIGN_OR_RETURN(std::string source, fields.Text("source"));
  ASSIGN_OR_RETURN(std::string target, fields.Text("target"));
  if (target.empty()) return InvalidField("target", "is missing");
  call->detect = source.empty();
  call->model = fields.Has("model");
  v1::TranslateRequest request = NewTranslateRequest(
      std::move(texts), call->detect ? "auto" : std::move(source), std::move(target));
  request.set_markup(markup);
  return request;
}

HttpResponse Translated(const TranslateCall& call, const v1::TranslateResponse& response) {
  Json translations = Json::array();
  for (const v1::Translation& translation : response.translations()) {
    Json to = {{"translatedText", translation.hypotheses(0).text()}};
    if (call.detect) to["detectedSourceLanguage"] = translation.detected_language();
    translations.push_back(std::move(to));
  }
  HttpResponse answer = JsonResponse(200, {{"data", {{"translations", std::move(translations)}}}});
  if (call.model) answer.headers.emplace_back(kIgnored, "model");
  return answer;
}

absl::StatusOr<HttpResponse> Detect(const CompatFields& fields) {
  ASSIGN_OR_RETURN(const std::vector<std::string> texts, fields.Texts("q"));
  Json detections = Json::array();
  for (const std::string& text : texts) {
    Json of_text = Json::array();
    for (const auto& [language, confidence] : DetectLanguages(text)) {
      of_text.push_back(
          {{"language", language}, {"confidence", confidence}, {"isReliable", false}});
    }
    if (of_text.empty()) {
      of_text.push_back({{"language", "und"}, {"confidence", 0}, {"isReliable", false}});
    }
    of_text.erase(of_text.begin() + 1, of_text.end());
    detections.push_back(std::move(of_text));
  }
  return JsonResponse(200, {{"data", {{"detections", std::move(detections)}}}});
}

absl::StatusOr<HttpResponse> ListLanguages(const HttpDoor& door, const CompatFields& fields,
                                           Call* call) {
  ASSIGN_OR_RETURN(const ServedPairs pairs, ListPairs(door, call));
  ASSIGN_OR_RETURN(const std::string names_in, fields.Text("target"));
  Json languages = Json::array();
  for (const std::string& tag : CodesOf(pairs)) {
    Json language = {{"language", tag}};
    if (!names_in.empty()) language["name"] = EnglishNameOf(tag);
    languages.push_back(std::move(language));
  }
  HttpResponse answer = JsonResponse(200, {{"data", {{"languages", std::move(languages)}}}});
  // Only English names are available.
  if (!names_in.empty() && names_in != "en") answer.headers.emplace_back(kIgnored, "target");
  return answer;
}

// Reads the fields; `key` becomes the token.
absl::StatusOr<CompatFields> ReadFields(HttpRequest* http) {
  absl::StatusOr<CompatFields> fields = CompatFields::Read(*http);
  if (fields.ok()) UseToken(fields->Text("key").value_or(""), http);
  return fields;
}

void Translate(const HttpDoor& door, HttpRequest http, std::shared_ptr<HttpAnswer> answer) {
  const absl::StatusOr<CompatFields> fields = ReadFields(&http);
  AnswerTranslate<TranslateCall>(door, kDoor, http, fields, std::move(answer),
                                 {ReadTranslate, Translated, Error});
}

}  // namespace

void AddGoogle(const HttpDoor& door, HttpRouter* router) {
  const auto add = [&](const char* path, const HttpHandler& handler) {
    for (const char* method : {"GET", "POST"}) {
      HttpRoute route = {.method = method, .path = path, .handler = handler, .error = PlainError};
      if (route.method == "POST") route.body_types = {"application/json", kForm};
      router->Add(std::move(route));
    }
  };
  add("/language/translate/v2", [door](HttpRequest http, std::shared_ptr<HttpAnswer> answer) {
    Translate(door, std::move(http), std::move(answer));
  });
  add("/language/translate/v2/detect",
      [door](HttpRequest http, const std::shared_ptr<HttpAnswer>& answer) {
        const absl::StatusOr<CompatFields> fields = ReadFields(&http);
        const auto detect = [&](Call* call) -> absl::StatusOr<HttpResponse> {
          RETURN_IF_ERROR(call->Admit());
          RETURN_IF_ERROR(fields.status());
          return Detect(*fields);
        };
        answer->Send(AnswerCall(door, kDoor, "Detect", http, Error, detect));
      });
  add("/language/translate/v2/languages",
      [door](HttpRequest http, const std::shared_ptr<HttpAnswer>& answer) {
        const absl::StatusOr<CompatFields> fields = ReadFields(&http);
        const auto list = [&](Call* call) -> absl::StatusOr<HttpResponse> {
          RETURN_IF_ERROR(fields.status());
          return ListLanguages(door, *fields, call);
        };
        answer->Send(AnswerCall(door, kDoor, "ListModels", http, Error, list));
      });
}

}  // namespace dragoman
