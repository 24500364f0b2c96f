#include "server/compat/compat.h"

#include <array>
#include <string_view>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/base/field_error.h"
#include "engine/base/status.h"
#include "server/api/list_models.h"
#include "server/compat/dialects.h"
#include "server/http/http_call.h"
#include "server/http/multipart.h"

namespace dragoman {
namespace {

// All that the others of kCompatNames have is in dialects.h.  Azure's routes want a parameter, so
// they come first.
constexpr std::pair<const char*, AddCompatRoutes*> kApis[] = {
    {"azure", azure::AddRoutes},
    {"deepl", deepl::AddRoutes},
    {"google", google_translate::AddRoutes},
    {"libretranslate", libretranslate::AddRoutes},
    {"open-inference", open_inference::AddRoutes},
    {"openai", openai::AddRoutes}};

// A call that an act answers.
struct ActCall {
  const std::shared_ptr<HttpAnswer> answer;
  std::unique_ptr<AnsweredCall<CompatFields, HttpResponse>> exchange = nullptr;
  std::shared_ptr<ActCall> self = nullptr;
};

}  // namespace

void AddCompat(const std::vector<std::string>& names, const ApiContext& context,
               HttpRouter* router) {
  const auto enabled = [&](std::string_view name) { return absl::c_linear_search(names, name); };
  for (const auto& [name, add_routes] : kApis) {
    if (!enabled(name)) continue;
    router->BeginApi(name);
    add_routes(context, router);
  }
  dialects::AddRoutes(enabled, context, router);
}

absl::Status InWordsOf(const CompatApi& api, const absl::Status& status) {
  if (absl::IsUnauthenticated(status)) {
    return absl::UnauthenticatedError(absl::StrCat(
        "the key is missing or not valid: want a token of this server ", api.credential));
  }
  const std::string field = FieldOf(status);
  for (const auto& [ours, theirs] : {std::pair("contents", api.texts),
                                     {"source_language", api.source},
                                     {"target_language", api.target}}) {
    const size_t end = std::string_view(ours).size();
    if (!absl::StartsWith(field, ours) || (field.size() > end && field[end] != '[')) continue;
    return WithField(status, theirs + field.substr(end));
  }
  return status;
}

void UseKey(const CompatApi& api, const absl::StatusOr<CompatFields>& fields, HttpRequest* http) {
  if (!BearerToken(http->Header("authorization")).empty()) return;
  const std::string_view scheme = api.key_scheme;
  std::string token(http->Header(api.key_header));
  if (absl::StartsWithIgnoreCase(token, api.key_scheme)) {
    token.erase(0, scheme.size());
  } else {
    token.clear();
  }
  if (token.empty() && fields.ok()) token = fields->Text(api.key_field).value_or("");
  if (token.empty()) return;
  std::erase_if(http->headers, [](const auto& header) { return header.first == "authorization"; });
  http->headers.emplace_back("authorization", "Bearer " + token);
}

void UseKey(const CompatApi& api, HttpRequest* http) {
  const bool has_field = *api.key_field != '\0';
  if (!has_field || !BearerToken(http->Header("authorization")).empty()) {
    return UseKey(api, CompatFields(), http);
  }
  UseKey(api, CompatFields::Glance(*http, {api.key_field}), http);
}

std::string OriginOf(const HttpRequest& http) {
  std::string_view scheme = http.Header("x-forwarded-proto");
  if (scheme != "http" && scheme != "https") scheme = http.encrypted ? "https" : "http";
  return absl::StrCat(std::string(scheme), "://", std::string(http.Header("host")));
}

HttpHandler HandlerOf(const ApiContext& context, CompatHandler* handle) {
  return [context, handle](HttpRequest http, std::shared_ptr<HttpAnswer> answer) {
    handle(context, std::move(http), std::move(answer));
  };
}

void AddRoute(HttpRouter* router, const char* method, std::string path, HttpHandler handler,
              HttpErrorBody error, bool multipart) {
  HttpRoute route = {.method = method,
                     .path = std::move(path),
                     .handler = std::move(handler),
                     .error = std::move(error)};
  if (route.method != "GET" && route.method != "DELETE") {
    route.body_types = {"application/json", kForm};
    if (multipart) route.body_types.push_back(kMultipart);
  }
  router->Add(std::move(route));
}

void AnswerCall(const ApiContext& context, const CompatMethod& method, const HttpRequest& http,
                std::shared_ptr<HttpAnswer> answer, const CompatRead& read,
                std::function<CompatAct> act) {
  const auto render = [method](const CallEnd& end, HttpResponse* response) {
    HttpResponse whole = WithHeaders(
        end.status.ok() ? std::move(*response) : method.error(InWordsOf(method.api, end.status)),
        end);
    return method.complete == nullptr ? whole : method.complete(std::move(whole));
  };
  if (const absl::Status loaded = context.loaded(); !loaded.ok()) {
    return answer->Send(render({.status = loaded}, nullptr));
  }
  const auto call = std::make_shared<ActCall>(ActCall{std::move(answer)});
  call->exchange = std::make_unique<AnsweredCall<CompatFields, HttpResponse>>(
      context.parts, method.name, CallerOf(http, method.api.name), method.terms, std::move(act),
      [&call = *call, render](const CallEnd& end, HttpResponse* response) {
        call.answer->Send(render(end, response));
        call.self = nullptr;
      });
  StartCall(call, [&] { return read(http); });
}

HttpHandler AnswerWith(const ApiContext& context, const CompatMethod& method,
                       std::function<CompatAct> act, CompatRead read) {
  return [=](HttpRequest http, std::shared_ptr<HttpAnswer> answer) {
    UseKey(method.api, &http);
    AnswerCall(context, method, http, std::move(answer), read, act);
  };
}

absl::Status CheckTexts(const ServerParts& parts, const CompatApi& api,
                        const std::vector<std::string>& texts) {
  if (texts.empty()) return absl::OkStatus();  // which is up to the API
  return InWordsOf(api, CheckTexts(texts, parts.models->limits()));
}

ServedPairs PairsOf(const ServerParts& parts, const Permit& permit) {
  ServedPairs pairs;
  const v1::ListModelsResponse models = ListedModels(parts, permit);
  for (const v1::Model& model : models.models()) {
    for (const v1::LanguagePair& pair : model.language_pairs()) {
      pairs[pair.source()].insert(pair.target());
    }
    if (model.language_pairs_size() > 0) continue;
    for (const std::string& source : model.source_languages()) {
      pairs[source].insert(model.target_languages().begin(), model.target_languages().end());
    }
  }
  // Those through the pivot language, whose both halves the caller may use.
  const std::string pivot = parts.models->Models()->pivot();
  const auto from_pivot = pairs.find(pivot);
  if (from_pivot == pairs.end()) return pairs;
  const std::set<std::string> reached = from_pivot->second;
  for (auto& [source, targets] : pairs) {
    if (!targets.contains(pivot)) continue;
    for (const std::string& target : reached) {
      if (target != source) targets.insert(target);
    }
  }
  return pairs;
}

std::set<std::string> CodesOf(const ServedPairs& pairs) {
  std::set<std::string> codes;
  for (const auto& [source, targets] : pairs) {
    codes.insert(source);
    codes.insert(targets.begin(), targets.end());
  }
  return codes;
}

absl::StatusOr<v1::Markup> FormatOf(const CompatFields& fields, const char* otherwise) {
  ASSIGN_OR_RETURN(const std::string format, fields.Text("format", otherwise));
  if (format == "text") return v1::MARKUP_NONE;
  if (format == "html") return v1::MARKUP_HTML;
  return InvalidField("format", "\"", format.substr(0, 32),
                      "\" is not supported, want \"text\" or \"html\"");
}

absl::StatusOr<v1::Markup> TagHandlingOf(const CompatFields& fields) {
  ASSIGN_OR_RETURN(const std::string handling, fields.Text("tag_handling"));
  if (handling.empty()) return v1::MARKUP_NONE;
  if (handling == "html") return v1::MARKUP_HTML;
  if (handling == "xml") return v1::MARKUP_XML;
  return InvalidField("tag_handling", "\"", handling.substr(0, 32),
                      "\" is neither \"html\" nor \"xml\"");
}

HttpResponse WithHeaders(HttpResponse response, const CallEnd& end) {
  for (auto& header : HeadersOf(end)) response.headers.push_back(std::move(header));
  return Counted(end, std::move(response));
}

v1::TranslateRequest NewTranslateRequest(std::vector<std::string> texts, std::string source,
                                         std::string target) {
  v1::TranslateRequest request;
  for (std::string& text : texts) request.add_contents(std::move(text));
  request.set_source_language(source.empty() ? "auto" : std::move(source));
  request.set_target_language(std::move(target));
  request.set_sentence_splitting(v1::SENTENCE_SPLITTING_SENTENCES);
  return request;
}

absl::StatusOr<v1::TranslateRequest> ReadRequest(const CompatApi& api, const CompatFields& fields) {
  ASSIGN_OR_RETURN(std::vector<std::string> texts, fields.Texts(api.texts));
  return ReadLanguages(api, fields, std::move(texts));
}

absl::StatusOr<v1::TranslateRequest> ReadLanguages(const CompatApi& api, const CompatFields& fields,
                                                   std::vector<std::string> texts) {
  ASSIGN_OR_RETURN(std::string source, fields.Text(api.source));
  ASSIGN_OR_RETURN(std::string target, fields.Text(api.target));
  if (target.empty()) return InvalidField(api.target, "is missing");
  return NewTranslateRequest(std::move(texts), std::move(source), std::move(target));
}

}  // namespace dragoman
