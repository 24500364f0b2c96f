// DeepL's API v2 (https://developers.deepl.com/docs), which CAT tools and DeepL's own libraries
// speak when given the address of this server.
//
//   curl localhost:9464/v2/translate -d text='Good morning.' -d target_lang=DE
//   {"translations": [{"detected_source_language": "EN", "text": "Guten Morgen."}]}

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "server/api/language_detector.h"
#include "server/compat/compat.h"
#include "server/compat/fields.h"

namespace dragoman {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kDoor[] = "deepl";

HttpResponse Error(const absl::Status& status) {
  int code = HttpCodeOf(status);
  if (code == 401) code = 403;  // the code that its clients know
  return JsonResponse(code, {{"message", std::string(status.message())}});
}

HttpResponse PlainError(int code, std::string_view message) {
  return JsonResponse(code, {{"message", std::string(message)}});
}

// "DE" of "de", "EN-US" of "en-US".
std::string Upper(const std::string& tag) { return absl::AsciiStrToUpper(tag); }

struct TranslateCall {
  std::string source;                // as DeepL writes it; empty: to be detected
  std::string tag_handling_version;  // if it was given
  bool count_characters = false;
  std::vector<int> characters;
  std::vector<std::string> ignored;
};

// INVALID_ARGUMENT names the first option that matters and is not supported.
absl::Status RefuseUnsupported(const CompatFields& fields) {
  for (const char* name : {"glossary_id", "glossary_ids", "style_id", "translation_memory_id",
                           "custom_instructions"}) {
    if (fields.Has(name)) return InvalidField(name, "is not supported");
  }
  ASSIGN_OR_RETURN(const std::string formality, fields.Text("formality", "default"));
  if (formality == "more" || formality == "less") {
    return InvalidField("formality", "is not supported for the given target_lang");
  }
  if (formality != "default" && formality != "prefer_more" && formality != "prefer_less") {
    return InvalidField("formality", "\"" + formality.substr(0, 32) + "\" is not a formality");
  }
  return absl::OkStatus();
}

// Reads tag_handling and what belongs to it.
absl::Status SetMarkup(const CompatFields& fields, TranslateCall* call,
                       v1::TranslateRequest* request) {
  ASSIGN_OR_RETURN(const std::string handling, fields.Text("tag_handling"));
  if (handling == "html") {
    request->set_markup(v1::MARKUP_HTML);
  } else if (handling == "xml") {
    request->set_markup(v1::MARKUP_XML);
  } else if (!handling.empty()) {
    return InvalidField("tag_handling",
                        "\"" + handling.substr(0, 32) + "\" is neither \"html\" nor \"xml\"");
  }
  ASSIGN_OR_RETURN(call->tag_handling_version, fields.Text("tag_handling_version"));
  if (!call->tag_handling_version.empty() && call->tag_handling_version != "v1" &&
      call->tag_handling_version != "v2") {
    return InvalidField("tag_handling_version", "is neither \"v1\" nor \"v2\"");
  }
  v1::MarkupOptions& options = *request->mutable_markup_options();
  ASSIGN_OR_RETURN(const bool outline, fields.Flag("outline_detection", true));
  options.set_outline_detection(outline);
  for (const auto& [name, names] : {std::pair("splitting_tags", options.mutable_splitting_tags()),
                                    {"non_splitting_tags", options.mutable_non_splitting_tags()},
                                    {"ignore_tags", options.mutable_ignore_tags()}}) {
    ASSIGN_OR_RETURN(const std::vector<std::string> given, fields.Names(name));
    names->Assign(given.begin(), given.end());
  }
  return absl::OkStatus();
}

// Line breaks of HTML end no sentence unless the request says so.
absl::Status SetSplitting(const CompatFields& fields, v1::TranslateRequest* request) {
  const bool is_html = request->markup() == v1::MARKUP_HTML;
  ASSIGN_OR_RETURN(const std::string value,
                   fields.Text("split_sentences", is_html ? "nonewlines" : "1"));
  if (value == "0") {
    request->set_sentence_splitting(v1::SENTENCE_SPLITTING_NONE);
  } else if (value == "nonewlines") {
    request->mutable_markup_options()->set_join_lines(!is_html || fields.Has("split_sentences"));
  } else if (value != "1") {
    return InvalidField("split_sentences",
                        "\"" + value.substr(0, 32) + "\" is none of 0, 1 and nonewlines");
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::TranslateRequest> ReadTranslate(const CompatFields& fields,
                                                   TranslateCall* call) {
  RETURN_IF_ERROR(RefuseUnsupported(fields));
  ASSIGN_OR_RETURN(std::vector<std::string> texts, fields.Texts("text"));
  ASSIGN_OR_RETURN(call->source, fields.Text("source_lang"));
  ASSIGN_OR_RETURN(std::string target, fields.Text("target_lang"));
  if (target.empty()) return InvalidField("target_lang", "is missing");
  for (const char* name :
       {"context", "formality", "model_type", "preserve_formatting", "enable_beta_languages"}) {
    if (fields.Has(name)) call->ignored.emplace_back(name);
  }
  ASSIGN_OR_RETURN(call->count_characters, fields.Flag("show_billed_characters", false));
  for (const std::string& text : texts) {
    call->characters.push_back(call->count_characters ? CountCodePoints(text) : 0);
  }
  v1::TranslateRequest request = NewTranslateRequest(
      std::move(texts), call->source.empty() ? "auto" : call->source, std::move(target));
  RETURN_IF_ERROR(SetMarkup(fields, call, &request));
  RETURN_IF_ERROR(SetSplitting(fields, &request));
  return request;
}

HttpResponse Translated(const TranslateCall& call, const v1::TranslateResponse& response) {
  Json translations = Json::array();
  for (int i = 0; i < response.translations_size(); ++i) {
    const v1::Translation& translation = response.translations(i);
    const std::string& source = call.source.empty() ? translation.detected_language() : call.source;
    Json to = {{"detected_source_language", Upper(source)},
               {"text", translation.hypotheses(0).text()}};
    if (!call.tag_handling_version.empty()) {
      to["tag_handling_version"] = call.tag_handling_version;
    }
    if (call.count_characters) to["billed_characters"] = call.characters[i];
    translations.push_back(std::move(to));
  }
  HttpResponse answer = JsonResponse(200, {{"translations", std::move(translations)}});
  if (!call.ignored.empty()) {
    answer.headers.emplace_back(kIgnored, absl::StrJoin(call.ignored, ", "));
  }
  return answer;
}

// Reads the fields; the key of `Authorization: DeepL-Auth-Key KEY` or of auth_key becomes the
// token.
absl::StatusOr<CompatFields> ReadFields(HttpRequest* http) {
  absl::StatusOr<CompatFields> fields = CompatFields::Read(*http);
  constexpr std::string_view kScheme = "DeepL-Auth-Key ";
  std::string_view key = http->Header("authorization");
  if (absl::StartsWithIgnoreCase(absl::string_view(key.data(), key.size()),
                                 absl::string_view(kScheme.data(), kScheme.size()))) {
    UseToken(std::string(key.substr(kScheme.size())), http);
  } else if (fields.ok()) {
    UseToken(fields->Text("auth_key").value_or(""), http);
  }
  return fields;
}

void Translate(const HttpDoor& door, HttpRequest http, std::shared_ptr<HttpAnswer> answer) {
  const absl::StatusOr<CompatFields> fields = ReadFields(&http);
  AnswerTranslate<TranslateCall>(door, kDoor, http, fields, std::move(answer),
                                 {ReadTranslate, Translated, Error});
}

absl::StatusOr<HttpResponse> ListLanguages(const HttpDoor& door, const CompatFields& fields,
                                           Call* call) {
  ASSIGN_OR_RETURN(const ServedPairs pairs, ListPairs(door, call));
  ASSIGN_OR_RETURN(const std::string type, fields.Text("type", "source"));
  if (type != "source" && type != "target") {
    return InvalidField("type", "is neither \"source\" nor \"target\"");
  }
  std::set<std::string> tags;
  for (const auto& [source, targets] : pairs) {
    if (type == "source") {
      tags.insert(source);
    } else {
      tags.insert(targets.begin(), targets.end());
    }
  }
  Json body = Json::array();
  for (const std::string& tag : tags) {
    Json language = {{"language", Upper(tag)}, {"name", EnglishNameOf(tag)}};
    if (type == "target") language["supports_formality"] = false;
    body.push_back(std::move(language));
  }
  return JsonResponse(200, body);
}

}  // namespace

void AddDeepL(const HttpDoor& door, HttpRouter* router) {
  // Adds a route, for any method, that is answered at once.
  const auto add = [&](const char* path, auto answer_call) {
    for (const char* method : {"GET", "POST"}) {
      HttpRoute route = {.method = method, .path = path, .error = PlainError};
      if (route.method == "POST") route.body_types = {"application/json", kForm};
      route.handler = [door, answer_call](HttpRequest http,
                                          const std::shared_ptr<HttpAnswer>& answer) {
        const absl::StatusOr<CompatFields> fields = ReadFields(&http);
        const auto act = [&](Call* call) -> absl::StatusOr<HttpResponse> {
          RETURN_IF_ERROR(fields.status());
          return answer_call(*fields, call);
        };
        answer->Send(AnswerCall(door, kDoor, "ListModels", http, Error, act));
      };
      router->Add(std::move(route));
    }
  };
  router->Add({.method = "POST",
               .path = "/v2/translate",
               .handler =
                   [door](HttpRequest http, std::shared_ptr<HttpAnswer> answer) {
                     Translate(door, std::move(http), std::move(answer));
                   },
               .body_types = {"application/json", kForm},
               .error = PlainError});
  add("/v2/languages",
      [door](const CompatFields& fields, Call* call) { return ListLanguages(door, fields, call); });
  // There is no charge per character here: nothing is counted, and the limit is the number that
  // DeepL's own server reports for an unlimited account.
  add("/v2/usage", [](const CompatFields&, Call* call) -> absl::StatusOr<HttpResponse> {
    RETURN_IF_ERROR(call->Admit());
    return JsonResponse(200, {{"character_count", 0}, {"character_limit", 1'000'000'000'000}});
  });
}

}  // namespace dragoman
