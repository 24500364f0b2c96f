// Version 3 of Azure Translator
// (https://learn.microsoft.com/azure/ai-services/translator/text-translation/reference/v3/reference)
// at the paths of its global endpoint, whose calls all have ?api-version=3.0, and of custom ones.
// Lengths and positions count characters (code points).
//
//   curl 'localhost:9464/translate?api-version=3.0&to=de&to=fr' -H 'Content-Type: application/json'
//     -d '[{"Text": "Good morning."}]'
//   [{"detectedLanguage": {"language": "en", "score": 0.93},
//     "translations": [{"text": "Guten Morgen.", "to": "de"}, {"text": "Bonjour.", "to": "fr"}]}]

#include <array>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/base/field_error.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "engine/text/language_detector.h"
#include "engine/text/language_tag.h"
#include "engine/text/splitter.h"
#include "server/compat/azure_spans.h"
#include "server/compat/compat.h"
#include "server/compat/fields.h"
#include "server/compat/targets.h"

namespace dragoman::azure {
namespace {

using Json = nlohmann::ordered_json;

constexpr CompatApi kApi = {.name = "azure",
                            .credential = "as the header Ocp-Apim-Subscription-Key",
                            .key_header = "ocp-apim-subscription-key",
                            .key_field = "Subscription-Key",
                            .texts = "Text",
                            .source = "from",
                            .target = "to"};

constexpr char kCustomEndpoint[] = "/translator/text/v3.0";
constexpr size_t kMaxTargets = 128;

// ---- Errors ------------------------------------------------------------------------------------

// Azure's numbers for what is wrong with a field; "Text[]" is an element of the body.
constexpr std::pair<std::string_view, int> kCodes[] = {
    {"scope", 400001}, {"category", 400002}, {"Text[]", 400005},   {"api-version", 400021},
    {"from", 400035},  {"to", 400036},       {"textType", 400071}, {"Text", 400072},
    {"body", 400074},  {"toScript", 400080}};
constexpr int kOtherInput = 400000;
constexpr int kTooLarge = 400077;

int CodeOf(const absl::Status& status) {
  const int http = HttpCodeOf(status);
  if (http == 413) return kTooLarge;
  if (http != 400) return http * 1000;
  std::string field = FieldOf(status);
  if (const auto element = ParseListElement(field)) field = element->list + "[]";
  for (const auto& [name, code] : kCodes) {
    if (field == name) return code;
  }
  return kOtherInput;
}

HttpResponse ErrorBody(int code, std::string_view message) {
  return JsonResponse(code / 1000,
                      {{"error", {{"code", code}, {"message", std::string(message)}}}});
}

HttpResponse Error(const absl::Status& status) {
  return ErrorBody(CodeOf(status), {status.message().data(), status.message().size()});
}

HttpResponse PlainError(int code, std::string_view message) {
  return ErrorBody(code == 413 ? kTooLarge : code * 1000, message);
}

// ---- Requests ----------------------------------------------------------------------------------

struct Input {
  CompatFields query;
  std::vector<std::string> texts;
};

absl::StatusOr<CompatFields> ReadQuery(const HttpRequest& http) {
  ASSIGN_OR_RETURN(const CompatFields query, CompatFields::ReadQuery(http));
  ASSIGN_OR_RETURN(const std::string version, query.Text("api-version", "3.0"));
  if (version != "3.0") return InvalidField("api-version", "is not 3.0");
  return query;
}

// The body is [{"Text": "..."}]; "text" is accepted as well.
absl::StatusOr<Input> ReadInput(const HttpRequest& http) {
  Input input;
  ASSIGN_OR_RETURN(input.query, ReadQuery(http));
  if (!IsValidUtf8(http.body)) return InvalidField("body", "is not valid UTF-8");
  const absl::StatusOr<nlohmann::json> body = ParseJsonArray(http.body, "the JSON");
  if (!body.ok()) return InvalidField("body", std::string(body.status().message()));
  for (const nlohmann::json& element : *body) {
    const char* const name = element.contains("Text") ? "Text" : "text";
    if (!element.contains(name) || !element[name].is_string()) {
      return InvalidField(absl::StrCat("Text[", input.texts.size(), "]"), "is not a string");
    }
    input.texts.push_back(element[name].get<std::string>());
  }
  return input;
}

struct AzureCall {
  std::vector<std::string> texts;
  std::vector<std::string> targets;
  bool detect = false;
  bool alignments = false;
  bool sentences = false;
  std::vector<const char*> ignored;
};

absl::Status RefuseUnsupported(const Input& input) {
  const CompatFields& query = input.query;
  for (size_t i = 0; i < input.texts.size(); ++i) {
    if (absl::StrContains(input.texts[i], "<mstrans:dictionary")) {
      return InvalidField(absl::StrCat("Text[", i, "]"),
                          "has a dictionary, which is not supported");
    }
  }
  ASSIGN_OR_RETURN(const std::string profanity, query.Text("profanityAction", "NoAction"));
  if (profanity != "NoAction") return InvalidField("profanityAction", "is not supported");
  if (query.Has("toScript")) return InvalidField("toScript", "is not supported");
  ASSIGN_OR_RETURN(const bool fallback, query.Flag("allowFallback", true));
  if (!fallback && query.Has("category")) {
    return InvalidField("category", "is not supported, and allowFallback is false");
  }
  return absl::OkStatus();
}

absl::Status ReadOptions(const CompatFields& query, AzureCall* call,
                         v1::TranslateRequest* request) {
  ASSIGN_OR_RETURN(const std::string type, query.Text("textType", "plain"));
  const bool is_html = absl::EqualsIgnoreCase(type, "html");
  if (!is_html && !absl::EqualsIgnoreCase(type, "plain")) {
    return InvalidField("textType", "is neither \"plain\" nor \"html\"");
  }
  if (is_html) request->set_markup(v1::MARKUP_HTML);
  ASSIGN_OR_RETURN(call->alignments, query.Flag("includeAlignment", false));
  call->alignments = call->alignments && !is_html;  // as Azure documents it
  ASSIGN_OR_RETURN(call->sentences, query.Flag("includeSentenceLength", false));
  request->mutable_output()->set_alignments(call->alignments);
  request->mutable_output()->set_sentence_spans(call->sentences);
  for (const char* name : {"category", "suggestedFrom", "fromScript"}) {
    if (query.Has(name)) call->ignored.push_back(name);
  }
  return absl::OkStatus();
}

absl::StatusOr<TargetsRequest> ReadTranslate(const HttpRequest& http, AzureCall* call) {
  ASSIGN_OR_RETURN(Input input, ReadInput(http));
  RETURN_IF_ERROR(RefuseUnsupported(input));
  ASSIGN_OR_RETURN(std::string source, input.query.Text("from"));
  ASSIGN_OR_RETURN(call->targets, input.query.Names("to"));
  if (call->targets.empty()) return InvalidField("to", "is missing");
  if (call->targets.size() > kMaxTargets) {
    return InvalidField(
        "to", absl::StrCat("has ", call->targets.size(), " languages, want at most ", kMaxTargets));
  }
  call->detect = source.empty();
  TargetsRequest wanted = {NewTranslateRequest(input.texts, std::move(source), ""), call->targets};
  RETURN_IF_ERROR(ReadOptions(input.query, call, &wanted.request));
  call->texts = std::move(input.texts);
  return wanted;
}

// ---- Answers -----------------------------------------------------------------------------------

Json Scored(const std::string& language, float score) {
  return {{"language", language}, {"score", score}};
}

Json TranslationOf(const AzureCall& call, const std::string& source, const std::string& target,
                   const v1::Translation& translation) {
  const v1::Hypothesis& best = translation.hypotheses(0);
  Json to = {{"text", best.text()}, {"to", target}};
  if (call.alignments) {
    to["alignment"] = {{"proj", AzureAlignment(source, best.text(), best.aligned_text())}};
  }
  if (call.sentences) to["sentLen"] = AzureSentences(source, best.text(), translation);
  return to;
}

HttpResponse Translated(const AzureCall& call,
                        const std::vector<v1::TranslateResponse>& responses) {
  Json body = Json::array();
  for (size_t i = 0; i < call.texts.size(); ++i) {
    Json translations = Json::array();
    for (size_t t = 0; t < responses.size(); ++t) {
      translations.push_back(TranslationOf(call, call.texts[i], call.targets[t],
                                           responses[t].translations(static_cast<int>(i))));
    }
    Json of_text;
    if (call.detect) {
      const v1::Translation& first = responses[0].translations(static_cast<int>(i));
      of_text["detectedLanguage"] = Scored(first.detected_language(), first.detection_confidence());
    }
    of_text["translations"] = std::move(translations);
    body.push_back(std::move(of_text));
  }
  HttpResponse answer = JsonResponse(200, body);
  if (!call.ignored.empty()) {
    answer.headers.emplace_back(kIgnored, absl::StrJoin(call.ignored, ", "));
  }
  return answer;
}

HttpResponse TranslateError(const AzureCall& call, const absl::Status& error) {
  const absl::Status status = InWordsOf(kApi, error);
  // A language that was not given cannot be wrong.
  if (call.detect && FieldOf(status) == kApi.source) return Error(WithField(status, kApi.target));
  return Error(status);
}

// The key may be in a query that is wrong otherwise.
void UseOwnKey(HttpRequest* http) { UseKey(kApi, CompatFields::ReadQuery(*http), http); }

void Translate(const ApiContext& context, HttpRequest http, std::shared_ptr<HttpAnswer> answer) {
  UseOwnKey(&http);
  const auto call = std::make_shared<AzureCall>();
  TranslateToTargets(
      context, kApi.name, http, std::move(answer), [&] { return ReadTranslate(http, call.get()); },
      [call](const CallEnd& end, const std::vector<v1::TranslateResponse>& responses) {
        return WithHeaders(
            end.status.ok() ? Translated(*call, responses) : TranslateError(*call, end.status),
            end);
      });
}

absl::StatusOr<HttpResponse> Detect(const ApiContext& context, const HttpRequest& http,
                                    Call* call) {
  RETURN_IF_ERROR(call->Admit());
  ASSIGN_OR_RETURN(const Input input, ReadInput(http));
  const std::set<std::string> served = CodesOf(PairsOf(context, *call));
  const auto describe = [&](const DetectedLanguage& detected) {
    Json language = Scored(detected.language, detected.confidence);
    language["isTranslationSupported"] = served.contains(detected.language);
    language["isTransliterationSupported"] = false;
    return language;
  };
  Json body = Json::array();
  for (const std::string& text : input.texts) {
    const std::vector<DetectedLanguage> found = DetectLanguages(text);
    Json best = describe(found.empty() ? DetectedLanguage{"und", 0} : found[0]);
    for (size_t i = 1; i < found.size(); ++i) best["alternatives"].push_back(describe(found[i]));
    body.push_back(std::move(best));
  }
  return JsonResponse(200, body);
}

absl::StatusOr<HttpResponse> BreakSentence(const ApiContext&, const HttpRequest& http, Call* call) {
  RETURN_IF_ERROR(call->Admit());
  ASSIGN_OR_RETURN(const Input input, ReadInput(http));
  Json body = Json::array();
  for (const std::string& text : input.texts) {
    Json of_text;
    if (!input.query.Has("language")) {
      const std::vector<DetectedLanguage> found = DetectLanguages(text);
      of_text["detectedLanguage"] =
          found.empty() ? Scored("und", 0) : Scored(found[0].language, found[0].confidence);
    }
    of_text["sentLen"] = AzureSentences(text, SplitSentences(text));
    body.push_back(std::move(of_text));
  }
  return JsonResponse(200, body);
}

// Azure has this list for everybody.  Names are only in English.
absl::StatusOr<HttpResponse> ListLanguages(const ApiContext& context, const HttpRequest& http,
                                           Call* call) {
  RETURN_IF_ERROR(call->AdmitAnybody());
  ASSIGN_OR_RETURN(const CompatFields query, ReadQuery(http));
  Json languages = Json::object();
  for (const std::string& tag : CodesOf(PairsOf(context, *call))) {
    const std::string name = EnglishNameOf(tag);
    languages[tag] = {
        {"name", name}, {"nativeName", name}, {"dir", IsRightToLeft(tag) ? "rtl" : "ltr"}};
  }
  ASSIGN_OR_RETURN(std::vector<std::string> scopes, query.Names("scope"));
  if (scopes.empty()) scopes = {"translation", "transliteration", "dictionary"};
  Json body = Json::object();
  for (const std::string& scope : scopes) {
    if (scope != "translation" && scope != "transliteration" && scope != "dictionary") {
      return InvalidField("scope", "is none of translation, transliteration and dictionary");
    }
    body[scope] = scope == "translation" ? languages : Json::object();
  }
  return JsonResponse(200, body);
}

// Azure exchanges a key for a token that is valid for ten minutes; here the key is one already.
absl::StatusOr<HttpResponse> IssueToken(const ApiContext&, const HttpRequest& http, Call* call) {
  RETURN_IF_ERROR(call->Admit());
  return HttpResponse{.content_type = "text/plain; charset=utf-8",
                      .body = std::string(BearerToken(http.Header("authorization"))),
                      .headers = {{"Cache-Control", "no-store"}}};
}

using Act = absl::StatusOr<HttpResponse> (*)(const ApiContext& context, const HttpRequest& http,
                                             Call* call);

HttpHandler AnswerAtOnce(const ApiContext& context, const char* method, Act act) {
  return [=](HttpRequest http, const std::shared_ptr<HttpAnswer>& answer) {
    UseOwnKey(&http);
    answer->Send(AnswerCall(context, kApi, method, http, Error,
                            [&](Call* call) { return act(context, http, call); }));
  };
}

}  // namespace

void AddRoutes(const ApiContext& context, HttpRouter* router) {
  const auto add = [&](const char* method, const std::string& path, const HttpHandler& handler) {
    HttpRoute route = {.method = method, .handler = handler, .error = PlainError};
    if (route.method == "POST") route.body_types = {"application/json"};
    route.path = kCustomEndpoint + path;
    router->Add(route);
    route.path = path;
    route.parameter = "api-version";
    router->Add(std::move(route));
  };
  add("POST", "/translate", [context](HttpRequest http, std::shared_ptr<HttpAnswer> answer) {
    Translate(context, std::move(http), std::move(answer));
  });
  add("POST", "/detect", AnswerAtOnce(context, "DetectLanguage", Detect));
  add("POST", "/breaksentence", AnswerAtOnce(context, "BreakSentence", BreakSentence));
  add("GET", "/languages", AnswerAtOnce(context, "ListModels", ListLanguages));
  azure_documents::AddRoutes(context, router);
  router->Add({.method = "POST",
               .path = "/sts/v1.0/issueToken",
               .handler = AnswerAtOnce(context, "IssueToken", IssueToken),
               .error = PlainError});
}

}  // namespace dragoman::azure
