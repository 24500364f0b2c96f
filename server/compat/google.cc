// Google's Cloud Translation API, for which many languages have client libraries: the basic edition
// (https://cloud.google.com/translate/docs/reference/rest/v2/translate) and the methods of the
// advanced one that answer at once
// (https://cloud.google.com/translate/docs/reference/rest/v3/projects/translateText).  Projects and
// locations may have any names.
//
//   curl 'localhost:9464/language/translate/v2?q=Good+morning.&target=de&format=text'
//   {"data": {"translations": [{"translatedText": "Guten Morgen.", "detectedSourceLanguage":
//   "en"}]}}
//
//   curl localhost:9464/v3/projects/any:translateText -H 'Content-Type: application/json'
//     -d '{"contents": ["Good morning."], "targetLanguageCode": "de", "mimeType": "text/plain"}'
//   {"translations": [{"translatedText": "Guten Morgen.", "detectedLanguageCode": "en"}]}
//
// With a glossary (google_glossaries.cc), glossaryTranslations has the same again.
//
// Its clients for Python and Node call the advanced edition over gRPC, with the messages of that
// JSON (rpc.h).

#include "server/compat/google.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "engine/text/language_detector.h"
#include "google/cloud/translate/v3/translation_service.pb.h"
#include "server/base/language_names.h"
#include "server/compat/compat.h"
#include "server/compat/fields.h"
#include "server/compat/rpc.h"

namespace dragoman::google_translate {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kCredential[] = "as the header X-goog-api-key, or as key, or as a bearer token";

// An edition of the API, with its names of fields.
constexpr CompatApi Edition(const char* texts, const char* source, const char* target) {
  return {.name = "google",
          .credential = kCredential,
          .key_header = "x-goog-api-key",
          .key_field = "key",
          .service = "google.cloud.translation.v3.TranslationService",
          .texts = texts,
          .source = source,
          .target = target};
}

constexpr CompatApi kBasic = Edition("q", "source", "target");

const char* ReasonOf(int code) {
  if (code == 403) return "forbidden";
  return code < 500 ? "invalid" : "backendError";
}

HttpResponse ErrorBody(int code, const std::string& name, const std::string& message) {
  return JsonResponse(code, {{"error",
                              {{"code", code},
                               {"message", message},
                               {"status", name},
                               {"errors", Json::array({{{"message", message},
                                                        {"domain", "global"},
                                                        {"reason", ReasonOf(code)}}})}}}});
}

}  // namespace

const CompatApi kAdvanced = Edition("contents", "sourceLanguageCode", "targetLanguageCode");

HttpResponse Error(const absl::Status& status) {
  if (absl::IsUnauthenticated(status)) {
    return ErrorBody(
        400, "INVALID_ARGUMENT",
        absl::StrCat("API key not valid. Please pass a valid API key. (", status.message(), ")"));
  }
  return ErrorBody(HttpCodeOf(status), absl::StatusCodeToString(status.code()),
                   std::string(status.message()));
}

HttpResponse PlainError(int code, std::string_view message) {
  return ErrorBody(code, code == 404 ? "NOT_FOUND" : "INVALID_ARGUMENT", std::string(message));
}

absl::Status ReadCall(const CompatFields& fields, GoogleCall* call, v1::TranslateRequest* request) {
  call->detect = request->source_language() == "auto";
  ASSIGN_OR_RETURN(call->model, fields.Text("model"));
  ASSIGN_OR_RETURN(const CompatFields config, fields.Object("glossaryConfig"));
  if (!fields.Has("glossaryConfig")) return absl::OkStatus();
  for (const char* name : {"ignoreCase", "contextualTranslationEnabled"}) {
    ASSIGN_OR_RETURN(const bool wanted, config.Flag(name, false));
    if (wanted) return InvalidField(absl::StrCat("glossaryConfig.", name), "is not supported");
  }
  ASSIGN_OR_RETURN(call->glossary, config.Text("glossary"));
  if (call->glossary.empty()) return InvalidField("glossaryConfig.glossary", "is missing");
  request->add_glossary_ids(call->glossary.substr(call->glossary.rfind('/') + 1));
  return absl::OkStatus();
}

namespace {

absl::StatusOr<v1::TranslateRequest> NewRequest(const CompatApi& api, const CompatFields& fields,
                                                v1::Markup markup, GoogleCall* call) {
  ASSIGN_OR_RETURN(v1::TranslateRequest request, ReadRequest(api, fields));
  RETURN_IF_ERROR(ReadCall(fields, call, &request));
  request.set_markup(markup);
  return request;
}

absl::StatusOr<v1::TranslateRequest> ReadBasic(const CompatFields& fields, GoogleCall* call) {
  ASSIGN_OR_RETURN(const v1::Markup markup, FormatOf(fields, "html"));
  return NewRequest(kBasic, fields, markup, call);
}

absl::StatusOr<v1::TranslateRequest> ReadAdvanced(const CompatFields& fields, GoogleCall* call) {
  RETURN_IF_ERROR(fields.Refuse({"transliterationConfig", "adaptiveMtConfig"}));
  ASSIGN_OR_RETURN(std::string type, fields.Text("mimeType", "text/html"));
  if (type.empty()) type = "text/html";
  if (type != "text/html" && type != "text/plain") {
    return InvalidField("mimeType", "is neither \"text/html\" nor \"text/plain\"");
  }
  return NewRequest(kAdvanced, fields, type == "text/html" ? v1::MARKUP_HTML : v1::MARKUP_NONE,
                    call);
}

// The translations of either edition; the name of the detected language is its own.
Json Translations(const GoogleCall& call, const v1::TranslateResponse& response,
                  const char* detected) {
  Json translations = Json::array();
  for (const v1::Translation& translation : response.translations()) {
    Json to = {{"translatedText", translation.hypotheses(0).text()}};
    if (call.detect) to[detected] = translation.detected_language();
    if (!call.model.empty()) to["model"] = call.model;
    translations.push_back(std::move(to));
  }
  return {{"translations", std::move(translations)}};
}

HttpResponse Translated(const GoogleCall& call, const Json& body) {
  HttpResponse answer = JsonResponse(200, body);
  if (!call.model.empty()) answer.headers.emplace_back(kIgnored, "model");
  return answer;
}

HttpResponse TranslatedBasic(const GoogleCall& call, const v1::TranslateResponse& response) {
  return Translated(call, {{"data", Translations(call, response, "detectedSourceLanguage")}});
}

HttpResponse TranslatedAdvanced(const GoogleCall& call, const v1::TranslateResponse& response) {
  Json body = Translations(call, response, "detectedLanguageCode");
  if (!call.glossary.empty()) {
    Json& translations = body["glossaryTranslations"] = body["translations"];
    for (Json& each : translations) each["glossaryConfig"] = {{"glossary", call.glossary}};
  }
  return Translated(call, body);
}

constexpr AnswerTerms kDetects = {.work = CallWork::kLong};

CompatAnswer DetectBasic(const CompatFields& fields, Call* call) {
  ASSIGN_OR_RETURN(const std::vector<std::string> texts, fields.Texts("q"));
  RETURN_IF_ERROR(CheckTexts(call->parts(), kBasic, texts));
  Json detections = Json::array();
  for (const std::string& text : texts) {
    const std::vector<DetectedLanguage> found = DetectLanguages(text);
    const DetectedLanguage best = found.empty() ? DetectedLanguage{"und", 0} : found[0];
    detections.push_back(Json::array(
        {{{"language", best.language}, {"confidence", best.confidence}, {"isReliable", false}}}));
  }
  return JsonResponse(200, {{"data", {{"detections", std::move(detections)}}}});
}

CompatAnswer DetectAdvanced(const CompatFields& fields, Call*) {
  ASSIGN_OR_RETURN(const std::string text, fields.Text("content"));
  ASSIGN_OR_RETURN(const std::string type, fields.Text("mimeType", "text/html"));
  Json languages = Json::array();
  for (const auto& [language, confidence] : DetectLanguages(text, type == "text/html")) {
    languages.push_back({{"languageCode", language}, {"confidence", confidence}});
  }
  if (languages.empty()) languages.push_back({{"languageCode", "und"}, {"confidence", 0}});
  return JsonResponse(200, {{"languages", std::move(languages)}});
}

CompatAnswer ListBasic(const CompatFields& fields, Call* call) {
  ASSIGN_OR_RETURN(const std::string names_in, fields.Text("target"));
  Json languages = Json::array();
  for (const std::string& tag : CodesOf(PairsOf(*call))) {
    Json language = {{"language", tag}};
    if (!names_in.empty()) language["name"] = NameOf(tag, names_in);
    languages.push_back(std::move(language));
  }
  return JsonResponse(200, {{"data", {{"languages", std::move(languages)}}}});
}

CompatAnswer ListAdvanced(const CompatFields& fields, Call* call) {
  ASSIGN_OR_RETURN(const std::string names_in, fields.Text("displayLanguageCode"));
  const ServedPairs pairs = PairsOf(*call);
  std::set<std::string> targets;
  for (const auto& [source, of_source] : pairs) targets.insert(of_source.begin(), of_source.end());
  Json languages = Json::array();
  for (const std::string& tag : CodesOf(pairs)) {
    Json language = {{"languageCode", tag}};
    if (!names_in.empty()) language["displayName"] = NameOf(tag, names_in);
    language["supportSource"] = pairs.contains(tag);
    language["supportTarget"] = targets.contains(tag);
    languages.push_back(std::move(language));
  }
  return JsonResponse(200, {{"languages", std::move(languages)}});
}

namespace messages = google::cloud::translation::v3;

absl::StatusOr<v1::TranslateRequest> ReadMessage(const messages::TranslateTextRequest& request,
                                                 GoogleCall* call) {
  ASSIGN_OR_RETURN(const CompatFields fields, FieldsOf(request));
  return ReadAdvanced(fields, call);
}

absl::Status WriteMessage(const GoogleCall& call, const v1::TranslateResponse& ours,
                          messages::TranslateTextResponse* response) {
  return FillFrom(TranslatedAdvanced(call, ours), response);
}

HttpResponse RefuseAdvanced(const HttpRequest&) {
  return PlainError(404,
                    "there is no such method; want translateText, translateDocument, "
                    "detectLanguage, supportedLanguages, glossaries or glossaryEntries");
}

}  // namespace

void AddRoutes(const ApiContext& context, HttpRouter* router) {
  const auto add_one = [&](const char* method, const char* path, const HttpHandler& handler) {
    AddRoute(router, method, path, handler, PlainError);
  };
  const auto add = [&](const char* path, const HttpHandler& handler) {
    for (const char* method : {"GET", "POST"}) add_one(method, path, handler);
  };
  const HttpHandler translate =
      TranslateHandler<GoogleCall>(context, kBasic, {ReadBasic, TranslatedBasic, Error});
  add("/language/translate/v2", translate);
  add("/language/translate/v2/", translate);  // Weblate and Drupal
  add("/language/translate/v2/detect",
      AnswerWith(context, {kBasic, "DetectLanguage", Error, kDetects}, DetectBasic));
  add("/language/translate/v2/languages",
      AnswerWith(context, {kBasic, "ListModels", Error}, ListBasic));
  google_documents::AddRoutes(context, router);
  google_glossaries::AddRoutes(context, router);
  // Of a project, /v3/projects/NAME, or of one of its locations, /v3/projects/NAME/locations/NAME.
  add_one(
      "POST", "/v3/projects/**:translateText",
      TranslateHandler<GoogleCall>(context, kAdvanced, {ReadAdvanced, TranslatedAdvanced, Error}));
  add_one("POST", "/v3/projects/**:detectLanguage",
          AnswerWith(context, {kAdvanced, "DetectLanguage", Error, kDetects}, DetectAdvanced));
  add_one("GET", "/v3/projects/**/supportedLanguages",
          AnswerWith(context, {kAdvanced, "ListModels", Error}, ListAdvanced));
  add("/v3/projects/**", AnswerAtOnce(RefuseAdvanced));
}

std::vector<Method> RpcMethods() {
  std::vector<Method> methods = google_glossaries::RpcMethods();
  methods.push_back(
      CompatRpc(kAdvanced, "Translate", "TranslateText",
                TranslateMessages<messages::TranslateTextRequest, messages::TranslateTextResponse,
                                  GoogleCall>({&kAdvanced, ReadMessage, WriteMessage})));
  methods.push_back(
      CompatRpc(kAdvanced, "TranslateDocument", "TranslateDocument", google_documents::NewRpc));
  methods.push_back(
      CompatRpc(kAdvanced, "DetectLanguage", "DetectLanguage", DetectAdvanced, kDetects));
  methods.push_back(CompatRpc(kAdvanced, "ListModels", "GetSupportedLanguages", ListAdvanced));
  return methods;
}

}  // namespace dragoman::google_translate
