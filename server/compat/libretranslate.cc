// The API of LibreTranslate (https://libretranslate.com/docs), which browser extensions, editors
// and bots use with self-hosted translation servers.
//
//   curl localhost:9464/translate -d q='Good morning.' -d source=en -d target=de
//   {"translatedText": "Guten Morgen."}

#include <algorithm>
#include <atomic>
#include <initializer_list>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/base/status.h"
#include "engine/text/language_detector.h"
#include "server/base/language_names.h"
#include "server/compat/compat.h"
#include "server/compat/dialects.h"
#include "server/compat/fields.h"
#include "server/compat/stored_files.h"

namespace dragoman::libretranslate {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kDownload[] = "/download_file/";

constexpr CompatApi kApi = {.name = "libretranslate",
                            .credential = "as api_key",
                            .key_field = "api_key",
                            .texts = "q",
                            .source = "source",
                            .target = "target"};

HttpResponse Error(const absl::Status& status) {
  int code = IsTooLong(status) ? 400 : HttpCodeOf(status);
  if (code == 401) code = 403;  // the code that its clients know
  std::string message(status.message());
  // Its words, which programs look for.
  const std::string field = FieldOf(status);
  if (message == field + ": is missing") {
    message = absl::StrCat("Invalid request: missing ", field, " parameter");
  } else if (absl::StartsWith(message, field + ": \"") &&
             absl::StrContains(message, "\" is not served")) {
    const size_t begin = field.size() + 3;
    message =
        absl::StrCat(message.substr(begin, message.find('"', begin) - begin), " is not supported");
  }
  return JsonResponse(code, {{"error", std::move(message)}});
}

HttpResponse PlainError(int code, std::string_view message) {
  return JsonResponse(code, {{"error", std::string(message)}});
}

// {"language": "en", "confidence": 92.0}; the confidence in percent.
Json Detected(const std::string& language, float confidence) {
  return {{"confidence", static_cast<int>(confidence * 100)}, {"language", language}};
}

absl::StatusOr<v1::TranslateRequest> ReadTranslate(const CompatApi&, const CompatFields& fields,
                                                   DialectCall* call) {
  ASSIGN_OR_RETURN(std::vector<std::string> texts, fields.Texts("q"));
  for (const char* name : {"source", "target"}) {
    if (!fields.Has(name)) return InvalidField(name, "is missing");
  }
  ASSIGN_OR_RETURN(std::string source, fields.Text("source"));
  ASSIGN_OR_RETURN(std::string target, fields.Text("target"));
  ASSIGN_OR_RETURN(const v1::Markup markup, FormatOf(fields, "text"));
  ASSIGN_OR_RETURN(call->alternatives, fields.Number("alternatives", 0));
  call->is_list = fields.IsList("q");
  if (source != "auto") call->source = source;
  v1::TranslateRequest request =
      NewTranslateRequest(std::move(texts), std::move(source), std::move(target));
  request.set_markup(markup);
  if (call->alternatives > 0) {
    const int hypotheses = std::min(call->alternatives, 1 << 20) + 1;
    request.mutable_options()->set_num_hypotheses(hypotheses);
    request.mutable_options()->set_beam_size(std::max(4, hypotheses));
  }
  return request;
}

HttpResponse Translated(const DialectCall& call, const v1::TranslateResponse& response) {
  Json texts = Json::array(), alternatives = Json::array(), detected = Json::array();
  for (const v1::Translation& translation : response.translations()) {
    texts.push_back(translation.hypotheses(0).text());
    Json others = Json::array();
    for (int i = 1; i < translation.hypotheses_size(); ++i) {
      others.push_back(translation.hypotheses(i).text());
    }
    alternatives.push_back(std::move(others));
    detected.push_back(
        Detected(translation.detected_language(), translation.detection_confidence()));
  }
  const auto put = [&](Json list) { return call.is_list ? list : list.at(0); };
  Json body;
  if (call.alternatives > 0) body["alternatives"] = put(std::move(alternatives));
  if (call.source.empty()) body["detectedLanguage"] = put(std::move(detected));
  body["translatedText"] = put(std::move(texts));
  return JsonResponse(200, body);
}

CompatAnswer Detect(const CompatFields& fields, Call*) {
  ASSIGN_OR_RETURN(const std::vector<std::string> texts, fields.Texts("q"));
  if (texts.size() != 1) return InvalidField("q", "is not one text");
  Json body = Json::array();
  for (const auto& [language, confidence] : DetectLanguages(texts[0])) {
    body.push_back(Detected(language, confidence));
  }
  if (body.empty()) body.push_back(Detected("en", 0));  // as LibreTranslate does
  return JsonResponse(200, body);
}

absl::Status ReadUpload(const CompatFields& fields, v1::DocumentHeader* header) {
  for (const char* name : {"source", "target"}) {
    if (!fields.Has(name)) return InvalidField(name, "is missing");
  }
  ASSIGN_OR_RETURN(const std::string source, fields.Text("source"));
  ASSIGN_OR_RETURN(const std::string target, fields.Text("target"));
  header->mutable_request()->set_source_language(source);
  header->mutable_request()->set_target_language(target);
  header->mutable_request()->set_sentence_splitting(v1::SENTENCE_SPLITTING_SENTENCES);
  return absl::OkStatus();
}

// Where the caller finds the translation; whoever knows the address may fetch it, as there.
std::string AddressOf(const HttpRequest& http, const StoredDocument& document) {
  std::string name = SaveAs(document.report.file_name()).second;
  name.erase(0, name.rfind('\'') + 1);
  return absl::StrCat(OriginOf(http), kDownload, document.id, ".", name);
}

// LibreTranslate answers when the translation is there.
void TranslateFile(const ApiContext& context, HttpRequest http,
                   std::shared_ptr<HttpAnswer> answer) {
  const auto remove = [parts = context.parts](const std::string& id) {
    const auto act = [store = parts->stored_documents, id] { store->Remove(id).IgnoreError(); };
    parts->store_threads->Run("", act).IgnoreError();
  };
  const auto has_ended = std::make_shared<std::atomic<bool>>(false);
  const auto begun = [remove, has_ended](const HttpRequest&, const StoredDocument& document,
                                         const std::shared_ptr<HttpAnswer>& to) {
    to->OnGone([remove, has_ended, id = document.id] {
      if (!*has_ended) remove(id);
    });
  };
  const auto ended = [remove, has_ended](const HttpRequest& request, const StoredDocument& document,
                                         const std::shared_ptr<HttpAnswer>& to) {
    *has_ended = true;
    if (document.done()) {
      return to->Send(JsonResponse(200, {{"translatedFileUrl", AddressOf(request, document)}}));
    }
    const absl::Status status = InWordsOf(kApi, *document.end);
    to->Send(WithHeaders(Error(status), {.status = status}));
    remove(document.id);
  };
  StoreUpload(context, kApi, std::move(http), std::move(answer),
              {.read = ReadUpload, .error = Error, .begun = begun, .ended = ended});
}

void Download(const ApiContext& context, HttpRequest http, std::shared_ptr<HttpAnswer> answer) {
  const std::string name = http.path.substr(sizeof(kDownload) - 1);
  const absl::StatusOr<StoredDocument> document =
      context.parts->stored_documents->Find(name.substr(0, name.find('.')));
  if (absl::IsUnavailable(document.status())) return answer->Send(Error(document.status()));
  const bool shows_token = !BearerToken(http.Header("authorization")).empty();
  const auto principal = context.parts->principals->Identify(CallerOf(http, kApi.name));
  const bool foreign = document.ok() && shows_token && principal.ok() &&
                       principal->principal() != document->principal;
  if (!document.ok() || foreign || !document->done()) {
    return answer->Send(PlainError(404, "there is no such file (any more)"));
  }
  SendStored(context, *document, answer);
}

// Mastodon takes a refusal of the lists for a used-up quota, and Discourse sends no key for them.
CompatAnswer ListLanguages(const CompatFields&, Call* call) {
  const ServedPairs pairs = PairsOf(*call);
  Json body = Json::array();
  for (const std::string& code : CodesOf(pairs)) {
    const auto targets = pairs.find(code);
    body.push_back({{"code", code},
                    {"name", NameOf(code, "en")},
                    {"targets", targets == pairs.end() ? Json::array() : Json(targets->second)}});
  }
  return JsonResponse(200, body);
}

CompatAnswer Settings(const CompatFields&, Call* call) {
  const ServedPairs pairs = PairsOf(*call);
  const bool files = call->parts().documents->limits().at_once > 0;
  Json suffixes = Json::array();
  for (const DocumentFormat& format : DocumentFormats()) {
    for (const std::string_view suffix : format.suffixes) suffixes.push_back(std::string(suffix));
  }
  const bool wants_key = call->parts().principals->wants_tokens();
  const std::string target = pairs.empty() ? "" : *pairs.begin()->second.begin();
  return JsonResponse(200, {{"apiKeys", wants_key},
                            {"charLimit", call->parts().models->limits().max_characters},
                            {"filesTranslation", files},
                            {"frontendTimeout", 500},
                            {"keyRequired", wants_key},
                            {"language",
                             {{"source", {{"code", "auto"}, {"name", "Auto Detect"}}},
                              {"target", {{"code", target}, {"name", NameOf(target, "en")}}}}},
                            {"suggestions", false},
                            {"supportedFilesFormat", files ? suffixes : Json::array()}});
}

// What there is, in OpenAPI.
Json Specification() {
  Json paths;
  for (const auto& [path, method, summary] :
       std::initializer_list<std::tuple<const char*, const char*, const char*>>{
           {"/translate", "post", "Translates q, a text or a list, from source to target"},
           {"/detect", "post", "Detects the language of q"},
           {"/languages", "get", "Lists the languages"},
           {"/translate_file", "post", "Translates file from source to target"},
           {"/frontend/settings", "get", "Describes the server"},
           {"/health", "get", "Says whether the server is ready"}}) {
    const Json error = {{"description", "An error"}};
    paths[path][method] = {{"summary", summary},
                           {"responses", {{"200", {{"description", "OK"}}}, {"default", error}}}};
  }
  return {{"openapi", "3.0.3"},
          {"info", {{"title", "LibreTranslate"}, {"version", DRAGOMAN_VERSION}}},
          {"paths", std::move(paths)}};
}

}  // namespace

const Dialect kTranslate = {.api = kApi,
                            .path = "/translate",
                            .fields = {"q", "target"},
                            .read = ReadTranslate,
                            .translated = Translated,
                            .error = Error,
                            .plain_error = PlainError};

void AddRoutes(const ApiContext& context, HttpRouter* router) {
  const auto add = [&](const char* method, const char* path, HttpHandler handler) {
    AddRoute(router, method, path, std::move(handler), PlainError, /*multipart=*/true);
  };
  add("POST", "/detect",
      AnswerWith(context, {kApi, "DetectLanguage", Error, {.work = CallWork::kLong}}, Detect));
  const CompatMethod open = {kApi, "ListModels", Error, {.admit = &Call::AdmitAnybody}};
  add("GET", "/languages", AnswerWith(context, open, ListLanguages));
  add("GET", "/frontend/settings", AnswerWith(context, open, Settings));
  AddFileRoute(context, kApi, "/translate_file", {.key_field = kApi.key_field}, TranslateFile,
               PlainError, router);
  add("GET", "/download_file/*", WithStore(context, Error, HandlerOf(context, Download)));
  add("GET", "/spec",
      AnswerAtOnce([](const HttpRequest&) { return JsonResponse(200, Specification()); }));
  add("POST", "/suggest", AnswerAtOnce([](const HttpRequest&) {
        return PlainError(403, "suggestions are not accepted here");
      }));
  add("GET", "/health", AnswerAtOnce([context](const HttpRequest&) {
        const absl::Status loaded = context.loaded();
        return loaded.ok() ? JsonResponse(200, {{"status", "ok"}}) : Error(loaded);
      }));
}

}  // namespace dragoman::libretranslate
