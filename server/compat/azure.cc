// Azure Translator
// (https://learn.microsoft.com/azure/ai-services/translator/text-translation/reference/v3/reference)
// at the paths of its global endpoint, whose calls all have ?api-version=, and of custom ones.
// Lengths and positions count characters (code points).
//
//   curl 'localhost:9464/translate?api-version=3.0&to=de&to=fr' -H 'Content-Type: application/json'
//     -d '[{"Text": "Good morning."}]'
//   [{"detectedLanguage": {"language": "en", "score": 0.93},
//     "translations": [{"text": "Guten Morgen.", "to": "de"}, {"text": "Bonjour.", "to": "fr"}]}]
//
//   curl 'localhost:9464/translate?api-version=2026-06-06' -H 'Content-Type: application/json'
//     -d '{"inputs": [{"text": "Good morning.", "targets": [{"language": "de"}, {"language":
//     "fr"}]}]}'
//   {"value": [{"detectedLanguage": {"language": "en", "score": 0.93},
//     "translations": [{"language": "de", "text": "Guten Morgen."}, ...]}]}

#include "server/compat/azure.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "engine/base/field_error.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "engine/text/language_detector.h"
#include "engine/text/language_tag.h"
#include "engine/text/splitter.h"
#include "server/base/language_names.h"
#include "server/compat/azure_spans.h"
#include "server/compat/fields.h"
#include "server/compat/targets.h"

namespace dragoman::azure {
namespace {

using Json = nlohmann::ordered_json;

constexpr CompatApi kApi = AzureApi("Text", "from", "to");

constexpr char kCustomEndpoint[] = "/translator/text/v3.0";
constexpr size_t kMaxTargets = 128;
constexpr size_t kMaxBytes = size_t{16} << 20;

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
  if (IsTooLong(status)) return kTooLarge;
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

// With the headers that Azure has.
HttpResponse WithRequestId(HttpResponse response) {
  for (const auto& [name, value] : response.headers) {
    if (name != "X-Request-Id") continue;
    response.headers.emplace_back("X-RequestId", value);
    break;
  }
  return response;
}

// ---- Requests ----------------------------------------------------------------------------------

// One text of a call.
struct Input {
  std::string text;
  std::string source;  // "": to be detected
  v1::Markup markup = v1::MARKUP_UNSPECIFIED;
  std::vector<std::string> targets;
  std::vector<v1::GlossaryEntry> dictionary;
};

struct AzureCall;

// What differs between the versions: how texts and languages are sent, and answers written.
struct Version {
  const char* name;
  absl::StatusOr<std::vector<Input>> (*read)(const ApiContext& context, const HttpRequest& http,
                                             const CompatFields& query, AzureCall* call);
  const char* target;     // the name of a translation's language
  const char* enclosing;  // of the list that is answered; null: the list alone
};

struct AzureCall {
  const Version* version = nullptr;
  std::vector<Input> inputs;
  // Where each translation is, in the order of the inputs and of their targets.
  struct Place {
    size_t call;
    int text;
  };
  std::vector<Place> places;
  bool alignments = false;
  bool sentences = false;
  std::vector<const char*> ignored;
};

absl::StatusOr<nlohmann::json> ReadArray(const HttpRequest& http) {
  if (!IsValidUtf8(http.body)) return InvalidField("body", "is not valid UTF-8");
  absl::StatusOr<nlohmann::json> body = ParseJsonArray(http.body, "the JSON");
  if (!body.ok()) return InvalidField("body", std::string(body.status().message()));
  return body;
}

// The body is [{"Text": "..."}]; "text" is accepted as well.
absl::StatusOr<std::vector<std::string>> ReadTexts(const HttpRequest& http) {
  ASSIGN_OR_RETURN(const nlohmann::json body, ReadArray(http));
  std::vector<std::string> texts;
  for (const nlohmann::json& element : body) {
    const char* const name = element.contains("Text") ? "Text" : "text";
    if (!element.contains(name) || !element[name].is_string()) {
      return InvalidField(absl::StrCat("Text[", texts.size(), "]"), "is not a string");
    }
    texts.push_back(element[name].get<std::string>());
  }
  return texts;
}

absl::Status RefuseUnsupported(const CompatFields& query) {
  ASSIGN_OR_RETURN(const std::string profanity, query.Text("profanityAction", "NoAction"));
  if (profanity != "NoAction") return InvalidField("profanityAction", "is not supported");
  RETURN_IF_ERROR(query.Refuse(
      {"toScript", "script", "tone", "gender", "adaptiveDatasetId", "referenceTextPairs"}));
  ASSIGN_OR_RETURN(const bool fallback, query.Flag("allowFallback", true));
  if (!fallback && query.Has("category")) {
    return InvalidField("category", "is not supported, and allowFallback is false");
  }
  if (!fallback && query.Has("deploymentName")) {
    return InvalidField("deploymentName", "is not supported, and allowFallback is false");
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::Markup> MarkupOf(const CompatFields& fields) {
  ASSIGN_OR_RETURN(const std::string type, fields.Text("textType", "plain"));
  if (absl::EqualsIgnoreCase(type, "html")) return v1::MARKUP_HTML;
  if (absl::EqualsIgnoreCase(type, "plain")) return v1::MARKUP_UNSPECIFIED;
  return InvalidField("textType", "is neither \"plain\" nor \"html\"");
}

absl::Status CheckTargets(const std::vector<std::string>& targets) {
  if (targets.empty()) return InvalidField("to", "is missing");
  if (targets.size() <= kMaxTargets) return absl::OkStatus();
  return InvalidField("to", "has ", targets.size(), " languages, want at most ", kMaxTargets);
}

// Version 3.0: the query has the languages and options of all texts.
absl::StatusOr<std::vector<Input>> ReadTextsAndQuery(const ApiContext& context,
                                                     const HttpRequest& http,
                                                     const CompatFields& query, AzureCall* call) {
  ASSIGN_OR_RETURN(const std::vector<std::string> texts, ReadTexts(http));
  RETURN_IF_ERROR(RefuseUnsupported(query));
  Input shared;
  ASSIGN_OR_RETURN(shared.source, query.Text("from"));
  ASSIGN_OR_RETURN(shared.targets, query.Names("to"));
  ASSIGN_OR_RETURN(shared.markup, MarkupOf(query));
  ASSIGN_OR_RETURN(call->alignments, query.Flag("includeAlignment", false));
  call->alignments = call->alignments && shared.markup != v1::MARKUP_HTML;  // as Azure documents it
  ASSIGN_OR_RETURN(call->sentences, query.Flag("includeSentenceLength", false));
  for (const char* name : {"category", "suggestedFrom", "fromScript"}) {
    if (query.Has(name)) call->ignored.push_back(name);
  }
  // Before there are as many inputs as texts, and as many requests as targets.
  RETURN_IF_ERROR(CheckTargets(shared.targets));
  RETURN_IF_ERROR(CheckTexts(*context.parts, kApi, texts));
  std::vector<Input> inputs;
  for (const std::string& text : texts) inputs.emplace_back(shared).text = text;
  return inputs;
}

// Version 2026-06-06: each text has its own.
absl::StatusOr<std::vector<Input>> ReadInputs(const ApiContext&, const HttpRequest& http,
                                              const CompatFields&, AzureCall* call) {
  ASSIGN_OR_RETURN(const CompatFields body, CompatFields::Read(http));
  ASSIGN_OR_RETURN(const std::vector<CompatFields> all, body.Objects("inputs"));
  std::vector<Input> inputs;
  for (const CompatFields& fields : all) {
    Input& input = inputs.emplace_back();
    if (!fields.Has("text")) {
      return InvalidField(absl::StrCat("Text[", inputs.size() - 1, "]"), "is not a string");
    }
    RETURN_IF_ERROR(RefuseUnsupported(fields));
    ASSIGN_OR_RETURN(input.text, fields.Text("text"));
    ASSIGN_OR_RETURN(input.source, fields.Text("language"));
    ASSIGN_OR_RETURN(input.markup, MarkupOf(fields));
    ASSIGN_OR_RETURN(const std::vector<CompatFields> targets, fields.Objects("targets"));
    for (const CompatFields& target : targets) {
      RETURN_IF_ERROR(RefuseUnsupported(target));
      ASSIGN_OR_RETURN(input.targets.emplace_back(), target.Text("language"));
      if (target.Has("deploymentName") && call->ignored.empty()) {
        call->ignored.push_back("deploymentName");
      }
    }
    RETURN_IF_ERROR(CheckTargets(input.targets));
  }
  return inputs;
}

constexpr Version kVersions[] = {{"3.0", ReadTextsAndQuery, "to", nullptr},
                                 {"2026-06-06", ReadInputs, "language", "value"}};

absl::StatusOr<const Version*> VersionOf(const CompatFields& query) {
  ASSIGN_OR_RETURN(const std::string asked, query.Text("api-version", kVersions[0].name));
  for (const Version& version : kVersions) {
    if (asked == version.name) return &version;
  }
  return InvalidField("api-version", "is neither 3.0 nor 2026-06-06");
}

absl::StatusOr<CompatFields> ReadQuery(const HttpRequest& http) {
  ASSIGN_OR_RETURN(const CompatFields query, CompatFields::ReadQuery(http));
  RETURN_IF_ERROR(VersionOf(query).status());
  return query;
}

// Takes <mstrans:dictionary translation="...">phrase</mstrans:dictionary> out of a text: the phrase
// becomes an entry of a glossary.
absl::Status TakeDictionary(size_t i, Input* input) {
  static constexpr std::string_view kBegin = "<mstrans:dictionary",
                                    kName = "translation=", kEnd = "</mstrans:dictionary>";
  const std::string from = std::move(input->text);
  input->text.clear();
  size_t at = 0;
  for (size_t tag; (tag = from.find(kBegin, at)) != from.npos;) {
    // One after the other, and npos after what is not there.
    const size_t name = from.find(kName, tag), begin = std::min(name, from.size()) + kName.size();
    const size_t quote = begin < from.size() ? from.find(from[begin], begin + 1) : from.npos;
    const size_t phrase = from.find('>', quote), end = from.find(kEnd, phrase);
    if (end == from.npos || (from[begin] != '"' && from[begin] != '\'')) {
      return InvalidField(absl::StrCat("Text[", i, "]"),
                          "has a dictionary that is not well-formed");
    }
    v1::GlossaryEntry& entry = input->dictionary.emplace_back();
    entry.set_source(from.substr(phrase + 1, end - phrase - 1));
    entry.set_target(
        absl::StrReplaceAll(from.substr(begin + 1, quote - begin - 1),
                            {{"&quot;", "\""}, {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}}));
    absl::StrAppend(&input->text, from.substr(at, tag - at), entry.source());
    at = end + kEnd.size();
  }
  input->text.append(from, at);
  return absl::OkStatus();
}

// One request for all texts of a pair of languages and a markup, in the order of their first ones.
absl::StatusOr<std::vector<v1::TranslateRequest>> ReadTranslate(const ApiContext& context,
                                                                const HttpRequest& http,
                                                                AzureCall* call) {
  ASSIGN_OR_RETURN(const CompatFields query, CompatFields::ReadQuery(http));
  ASSIGN_OR_RETURN(call->version, VersionOf(query));
  ASSIGN_OR_RETURN(call->inputs, call->version->read(context, http, query, call));
  std::vector<v1::TranslateRequest> requests;
  // A text with a dictionary is alone.
  std::map<std::tuple<std::string, std::string, v1::Markup, size_t>, size_t> known;
  size_t bytes = 0;
  for (size_t i = 0; i < call->inputs.size(); ++i) {
    Input& input = call->inputs[i];
    RETURN_IF_ERROR(TakeDictionary(i, &input));
    for (const std::string& target : input.targets) {
      const auto [at, added] = known.try_emplace(
          {input.source, target, input.markup, input.dictionary.empty() ? 0 : i + 1},
          requests.size());
      if (added && requests.size() == kMaxTargets) {
        return InvalidField("to", "has more than ", kMaxTargets, " pairs of languages and formats");
      }
      bytes += input.text.size();
      if (bytes > kMaxBytes) {
        return InvalidField("Text", "has over ", kMaxBytes,
                            " bytes, counted once for each language");
      }
      if (added) {
        v1::TranslateRequest& request =
            requests.emplace_back(NewTranslateRequest({}, input.source, target));
        request.set_markup(input.markup);
        request.mutable_options()->mutable_glossary()->Assign(input.dictionary.begin(),
                                                              input.dictionary.end());
        request.mutable_output()->set_alignments(call->alignments);
        request.mutable_output()->set_sentence_spans(call->sentences);
      }
      v1::TranslateRequest& request = requests[at->second];
      call->places.push_back({at->second, request.contents_size()});
      request.add_contents(input.text);
    }
  }
  if (requests.empty()) return InvalidField("Text", "is missing");
  return requests;
}

// ---- Answers -----------------------------------------------------------------------------------

Json Scored(const std::string& language, float score) {
  return {{"language", language}, {"score", score}};
}

Json TranslationOf(const AzureCall& call, const std::string& source, const std::string& target,
                   const v1::Translation& translation) {
  const v1::Hypothesis& best = translation.hypotheses(0);
  Json to = {{"text", best.text()}, {call.version->target, target}};
  if (call.alignments) {
    to["alignment"] = {{"proj", AzureAlignment(source, best.text(), best.aligned_text())}};
  }
  if (call.sentences) to["sentLen"] = AzureSentences(source, best.text(), translation);
  return to;
}

HttpResponse Translated(const AzureCall& call,
                        const std::vector<v1::TranslateResponse>& responses) {
  Json list = Json::array();
  int metered = 0;
  auto place = call.places.begin();
  for (const Input& input : call.inputs) {
    Json of_text = Json::object();
    Json translations = Json::array();
    for (const std::string& target : input.targets) {
      const v1::Translation& translation = responses[place->call].translations(place->text);
      if (input.source.empty() && translations.empty()) {
        of_text["detectedLanguage"] =
            Scored(translation.detected_language(), translation.detection_confidence());
      }
      translations.push_back(TranslationOf(call, input.text, target, translation));
      metered += CountCodePoints(input.text);
      ++place;
    }
    of_text["translations"] = std::move(translations);
    list.push_back(std::move(of_text));
  }
  const char* const enclosing = call.version->enclosing;
  HttpResponse answer =
      JsonResponse(200, enclosing == nullptr ? list : Json{{enclosing, std::move(list)}});
  answer.headers.emplace_back("X-Metered-Usage", std::to_string(metered));
  return WithIgnored(call.ignored, std::move(answer));
}

HttpResponse TranslateError(const AzureCall& call, const absl::Status& error) {
  const absl::Status status = InWordsOf(kApi, error);
  // A language that was not given cannot be wrong.
  const bool detects =
      absl::c_any_of(call.inputs, [](const Input& input) { return input.source.empty(); });
  if (detects && FieldOf(status) == kApi.source) return Error(WithField(status, kApi.target));
  return Error(status);
}

void Translate(const ApiContext& context, HttpRequest http, std::shared_ptr<HttpAnswer> answer) {
  UseKeyOfQuery(kApi, &http);
  const auto call = std::make_shared<AzureCall>();
  TranslateToTargets(
      context, kApi.name, http, std::move(answer),
      [&] { return ReadTranslate(context, http, call.get()); },
      [call](const CallEnd& end, const std::vector<v1::TranslateResponse>& responses) {
        return WithRequestId(WithHeaders(
            end.status.ok() ? Translated(*call, responses) : TranslateError(*call, end.status),
            end));
      });
}

CompatAnswer Detect(const HttpRequest& http, Call* call) {
  RETURN_IF_ERROR(ReadQuery(http).status());
  ASSIGN_OR_RETURN(const std::vector<std::string> texts, ReadTexts(http));
  RETURN_IF_ERROR(CheckTexts(call->parts(), kApi, texts));
  const std::set<std::string> served = CodesOf(PairsOf(*call));
  const auto describe = [&](const DetectedLanguage& detected) {
    Json language = Scored(detected.language, detected.confidence);
    language["isTranslationSupported"] = served.contains(detected.language);
    language["isTransliterationSupported"] = false;
    return language;
  };
  Json body = Json::array();
  for (const std::string& text : texts) {
    const std::vector<DetectedLanguage> found = DetectLanguages(text);
    Json best = describe(found.empty() ? DetectedLanguage{"und", 0} : found[0]);
    for (size_t i = 1; i < found.size(); ++i) best["alternatives"].push_back(describe(found[i]));
    body.push_back(std::move(best));
  }
  return JsonResponse(200, body);
}

CompatAnswer BreakSentence(const HttpRequest& http, Call* call) {
  ASSIGN_OR_RETURN(const CompatFields query, ReadQuery(http));
  ASSIGN_OR_RETURN(const std::vector<std::string> texts, ReadTexts(http));
  RETURN_IF_ERROR(CheckTexts(call->parts(), kApi, texts));
  Json body = Json::array();
  for (const std::string& text : texts) {
    Json of_text;
    if (!query.Has("language")) {
      const std::vector<DetectedLanguage> found = DetectLanguages(text);
      of_text["detectedLanguage"] =
          found.empty() ? Scored("und", 0) : Scored(found[0].language, found[0].confidence);
    }
    of_text["sentLen"] = AzureSentences(text, SplitSentences(text));
    body.push_back(std::move(of_text));
  }
  return JsonResponse(200, body);
}

// The first language of a header such as "de-DE,de;q=0.9".
std::string AcceptedLanguage(const HttpRequest& http) {
  const std::string_view all = http.Header("accept-language");
  return all.empty() ? "en" : std::string(all.substr(0, all.find_first_of(",; ")));
}

// Azure has this list for everybody.
CompatAnswer ListLanguages(const HttpRequest& http, Call* call) {
  ASSIGN_OR_RETURN(const CompatFields query, ReadQuery(http));
  const std::string names_in = AcceptedLanguage(http);
  Json languages = Json::object();
  for (const std::string& tag : CodesOf(PairsOf(*call))) {
    languages[tag] = {{"name", NameOf(tag, names_in)},
                      {"nativeName", NameOf(tag, tag)},
                      {"dir", IsRightToLeft(tag) ? "rtl" : "ltr"}};
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
CompatAnswer IssueToken(const HttpRequest& http, Call*) {
  return HttpResponse{.content_type = "text/plain; charset=utf-8",
                      .body = std::string(BearerToken(http.Header("authorization"))),
                      .headers = {{"Cache-Control", "no-store"}}};
}

using Act = CompatAnswer (*)(const HttpRequest& http, Call* call);

HttpHandler AnswerWith(const ApiContext& context, const char* name, Act act,
                       const AnswerTerms& terms = {}) {
  const CompatMethod method = {kApi, name, Error, terms, WithRequestId};
  return [=](HttpRequest http, std::shared_ptr<HttpAnswer> answer) {
    UseKeyOfQuery(kApi, &http);
    const auto request = std::make_shared<const HttpRequest>(std::move(http));
    AnswerCall(
        context, method, *request, std::move(answer),
        [](const HttpRequest&) { return CompatFields(); },
        [=](const CompatFields&, Call* call) { return act(*request, call); });
  };
}

}  // namespace

void AddRoutes(const ApiContext& context, HttpRouter* router) {
  constexpr AnswerTerms kReadsTexts = {.work = CallWork::kLong};
  const auto add = [&](const char* method, const std::string& path, const HttpHandler& handler) {
    HttpRoute route = {.method = method, .handler = handler, .error = PlainError};
    if (route.method == "POST") route.body_types = {"application/json"};
    route.path = kCustomEndpoint + path;
    router->Add(route);
    route.path = path;
    route.parameter = "api-version";
    router->Add(std::move(route));
  };
  add("POST", "/translate", HandlerOf(context, Translate));
  add("POST", "/detect", AnswerWith(context, "DetectLanguage", Detect, kReadsTexts));
  add("POST", "/breaksentence", AnswerWith(context, "BreakSentence", BreakSentence, kReadsTexts));
  add("GET", "/languages",
      AnswerWith(context, "ListModels", ListLanguages, {.admit = &Call::AdmitAnybody}));
  azure_documents::AddRoutes(context, router);
  router->Add({.method = "POST",
               .path = "/sts/v1.0/issueToken",
               .handler = AnswerWith(context, "IssueToken", IssueToken),
               .error = PlainError});
}

}  // namespace dragoman::azure
