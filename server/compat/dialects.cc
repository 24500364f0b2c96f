#include "server/compat/dialects.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "engine/base/status.h"
#include "engine/text/language_detector.h"
#include "server/base/language_names.h"
#include "server/compat/fields.h"
#include "server/compat/google.h"

namespace dragoman::dialects {
namespace {

using Json = nlohmann::ordered_json;
using Request = absl::StatusOr<v1::TranslateRequest>;

constexpr char kBearerOrToken[] = "as a bearer token, or as token in the query";

// ---- Shared by rows ----------------------------------------------------------------------------

Request ReadList(const CompatApi& api, const CompatFields& fields, DialectCall* call) {
  ASSIGN_OR_RETURN(v1::TranslateRequest request, ReadRequest(api, fields));
  call->target = request.target_language();
  if (absl::EqualsIgnoreCase(request.source_language(), "auto")) {
    request.set_source_language("auto");
  } else {
    call->source = request.source_language();
  }
  return request;
}

Request ReadOne(const CompatApi& api, const CompatFields& fields, DialectCall* call) {
  if (fields.IsList(api.texts)) return InvalidField(api.texts, "is not one text");
  return ReadList(api, fields, call);
}

const std::string& SourceOf(const DialectCall& call, const v1::Translation& translation) {
  return call.source.empty() ? translation.detected_language() : call.source;
}

const std::string& TextOf(const v1::TranslateResponse& response) {
  return response.translations(0).hypotheses(0).text();
}

// A list with one element for each translation.
template <typename Element>
Json ListOf(const v1::TranslateResponse& response, const Element& element) {
  Json list = Json::array();
  for (const v1::Translation& translation : response.translations()) {
    list.push_back(element(translation, translation.hypotheses(0).text()));
  }
  return list;
}

HttpResponse MessageAlone(int code, std::string_view message) {
  return JsonResponse(code, {{"error", std::string(message)}});
}

// A row whose callers show a token, and whose errors are all written alike: with its own names for
// contents, source_language and target_language.
template <auto error = MessageAlone>
constexpr Dialect Row(const char* name, const char* path, std::array<const char*, 3> names,
                      decltype(Dialect::read) read, decltype(Dialect::translated) translated) {
  return {.api = {.name = name,
                  .credential = kBearerOrToken,
                  .key_field = "token",
                  .texts = names[0],
                  .source = names[1],
                  .target = names[2]},
          .path = path,
          .fields = {names[0], names[2]},
          .read = read,
          .translated = translated,
          .error = ErrorByCode<error>,
          .plain_error = error};
}

// ---- DeepLX (https://github.com/OwO-Network/DeepLX), which browser extensions, Bob, Pot and other
// dictionaries speak.  Its /v2/translate is DeepL's own; its /v1/translate is not offered, because
// that path is this server's own API.
//
//   curl localhost:9464/translate -H 'Content-Type: application/json'
//     -d '{"text": "Good morning.", "source_lang": "EN", "target_lang": "DE"}'
//   {"code": 200, "id": 1700000000000, "data": "Guten Morgen.", "alternatives": [],
//    "source_lang": "EN", "target_lang": "DE", "method": "Free"}

Request ReadDeepLX(const CompatApi& api, const CompatFields& fields, DialectCall* call) {
  ASSIGN_OR_RETURN(v1::TranslateRequest request, ReadOne(api, fields, call));
  ASSIGN_OR_RETURN(const v1::Markup markup, TagHandlingOf(fields));
  request.set_markup(markup);
  return request;
}

HttpResponse AnswerDeepLX(const DialectCall& call, const v1::TranslateResponse& response) {
  return JsonResponse(
      200, {{"code", 200},
            {"id", absl::ToUnixMillis(absl::Now())},
            {"data", TextOf(response)},
            {"alternatives", Json::array()},
            {"source_lang", absl::AsciiStrToUpper(SourceOf(call, response.translations(0)))},
            {"target_lang", absl::AsciiStrToUpper(call.target)},
            {"method", "Free"}});
}

HttpResponse DeepLXError(int code, std::string_view message) {
  return JsonResponse(code, {{"code", code}, {"message", std::string(message)}});
}

constexpr Dialect kDeepLX = [] {
  Dialect row = Row<DeepLXError>("deeplx", "/translate", {"text", "source_lang", "target_lang"},
                                 ReadDeepLX, AnswerDeepLX);
  row.api.key_header = "authorization";
  row.api.key_scheme = "DeepL-Auth-Key ";
  return row;
}();

// ---- Immersive Translate, a browser extension, of a server of one's own
// (https://immersivetranslate.com/en/docs/services/custom/).  The path and ?token= are those of
// MTranServer (https://github.com/xxnuo/MTranServer), whose users have set them already.
//
//   curl localhost:9464/imme -H 'Content-Type: application/json'
//     -d '{"source_lang": "auto", "target_lang": "de", "text_list": ["Good morning."]}'
//   {"translations": [{"detected_source_lang": "en", "text": "Guten Morgen."}]}

HttpResponse AnswerImmersive(const DialectCall& call, const v1::TranslateResponse& response) {
  const auto element = [&](const v1::Translation& translation, const std::string& text) -> Json {
    return {{"detected_source_lang", SourceOf(call, translation)}, {"text", text}};
  };
  return JsonResponse(200, {{"translations", ListOf(response, element)}});
}

constexpr Dialect kImmersive = [] {
  Dialect row = Row("immersive-translate", "/imme", {"text_list", "source_lang", "target_lang"},
                    ReadList, AnswerImmersive);
  row.api.credential = "as token in the query";
  return row;
}();

// ---- KISS Translator, a browser extension, of a server of one's own
// (https://github.com/fishjar/kiss-translator/blob/master/custom-api_v2.md), at MTranServer's path.
// Versions before 2 send one text at a time.
//
//   curl localhost:9464/kiss -H 'Content-Type: application/json'
//     -d '{"texts": ["Good morning."], "from": "auto", "to": "de"}'
//   {"translations": [{"text": "Guten Morgen.", "src": "en"}]}

Json KissElement(const DialectCall& call, const v1::Translation& translation) {
  return {{"text", translation.hypotheses(0).text()}, {"src", SourceOf(call, translation)}};
}

HttpResponse AnswerKissList(const DialectCall& call, const v1::TranslateResponse& response) {
  const auto element = [&](const v1::Translation& translation, const std::string&) {
    return KissElement(call, translation);
  };
  return JsonResponse(200, {{"translations", ListOf(response, element)}});
}

HttpResponse AnswerKissOne(const DialectCall& call, const v1::TranslateResponse& response) {
  return JsonResponse(200, KissElement(call, response.translations(0)));
}

constexpr Dialect kKissOne = Row("kiss-translator", "/kiss", {"text", "from", "to"}, ReadOne,
                                 AnswerKissOne),
                  kKissList = Row("kiss-translator", "/kiss", {"texts", "from", "to"}, ReadList,
                                  AnswerKissList);

// ---- HCFY (https://hcfy.ai/docs/services/custom-api), a browser extension that translates what is
// selected, at MTranServer's path.  Languages have their Chinese names.  A text in the first
// destination is translated into the second one.
//
//   curl localhost:9464/hcfy -H 'Content-Type: application/json'
//     -d '{"name": "any", "text": "Good morning.", "destination": ["德语", "英语"]}'
//   {"text": "Good morning.", "from": "英语", "to": "德语", "result": ["Guten Morgen."]}

// ICU's "中文（简体）" is "中文(简体)" there.
std::string WithTheirBrackets(const std::string& name) {
  return absl::StrReplaceAll(name, {{"（", "("}, {"）", ")"}});
}

std::string HcfyNameOf(const std::string& tag) { return WithTheirBrackets(NameOf(tag, "zh")); }

// A name that nobody knows may be a tag.
std::string TagOfHcfy(const std::string& name) {
  static const auto* const kTags = [] {
    auto* const tags = new std::map<std::string, std::string>;
    for (const auto& [zh, tag] : TagsByName("zh")) {
      tags->emplace(WithTheirBrackets(zh), tag);
    }
    return tags;
  }();
  const auto found = kTags->find(name);
  return found == kTags->end() ? name : found->second;
}

std::string_view BaseOf(std::string_view tag) { return tag.substr(0, tag.find('-')); }

Request ReadHcfy(const CompatApi& api, const CompatFields& fields, DialectCall* call) {
  if (fields.IsList(api.texts)) return InvalidField(api.texts, "is not one text");
  ASSIGN_OR_RETURN(std::vector<std::string> texts, fields.Texts(api.texts));
  ASSIGN_OR_RETURN(const std::string source, fields.Text(api.source));
  ASSIGN_OR_RETURN(const std::vector<std::string> targets, fields.Names(api.target));
  if (targets.empty()) return InvalidField(api.target, "is missing");
  call->text = texts[0];
  if (!source.empty() && source != "auto") call->source = TagOfHcfy(source);
  call->target = TagOfHcfy(targets[0]);
  if (targets.size() > 1) {
    std::string from = call->source;
    if (from.empty()) {
      const std::vector<DetectedLanguage> found = DetectLanguages(texts[0]);
      if (!found.empty()) from = found[0].language;
    }
    if (BaseOf(from) == BaseOf(call->target)) call->target = TagOfHcfy(targets[1]);
  }
  return NewTranslateRequest(std::move(texts), call->source, call->target);
}

// The result is a list of paragraphs.
HttpResponse AnswerHcfy(const DialectCall& call, const v1::TranslateResponse& response) {
  const std::vector<std::string> result = absl::StrSplit(TextOf(response), '\n');
  return JsonResponse(200, {{"text", call.text},
                            {"from", HcfyNameOf(SourceOf(call, response.translations(0)))},
                            {"to", HcfyNameOf(call.target)},
                            {"result", result}});
}

constexpr Dialect kHcfy =
    Row("hcfy", "/hcfy", {"text", "source", "destination"}, ReadHcfy, AnswerHcfy);

// ---- Google's address for its own web pages, which many extensions and libraries call; also at
// MTranServer's path.
//
//   curl 'localhost:9464/translate_a/single?client=gtx&sl=auto&tl=de&dt=t&q=Good+morning.'
//   [[["Guten Morgen.", "Good morning.", null, null, 1]], null, "en", null, null, null, null, []]
//
// With dj=1:
//   {"sentences": [{"trans": "Guten Morgen.", "orig": "Good morning.", "backend": 1}], "src": "en"}

Request ReadSingle(const CompatApi& api, const CompatFields& fields, DialectCall* call) {
  ASSIGN_OR_RETURN(call->as_object, fields.Flag("dj", false));
  ASSIGN_OR_RETURN(v1::TranslateRequest request, ReadOne(api, fields, call));
  call->text = request.contents(0);
  return request;
}

HttpResponse AnswerSingle(const DialectCall& call, const v1::TranslateResponse& response) {
  const std::string& source = SourceOf(call, response.translations(0));
  const std::string& text = TextOf(response);
  if (call.as_object) {
    const Json sentence = {{"trans", text}, {"orig", call.text}, {"backend", 1}};
    return JsonResponse(200, {{"sentences", Json::array({sentence})}, {"src", source}});
  }
  const Json sentence = Json::array({text, call.text, nullptr, nullptr, 1});
  return JsonResponse(200, Json::array({Json::array({sentence}), nullptr, source, nullptr, nullptr,
                                        nullptr, nullptr, Json::array()}));
}

constexpr Dialect Single(const char* path) {
  Dialect row = Row<google_translate::PlainError>("google", path, {"q", "sl", "tl"}, ReadSingle,
                                                  AnswerSingle);
  row.api.key_header = "x-goog-api-key";
  row.api.key_field = "key";
  row.error = google_translate::Error;
  row.other_method = "GET";
  return row;
}
constexpr Dialect kSingle = Single("/translate_a/single"),
                  kSingleOfMTranServer = Single("/google/translate_a/single");

// ---- Subtitle Edit (https://github.com/SubtitleEdit/subtitleedit), as it calls servers of one's
// own: nllb-serve (https://github.com/thammegowda/nllb-serve) and nllb-api
// (https://github.com/winstxnhdw/nllb-api).  Languages may have codes such as "eng_Latn".
//
//   curl localhost:9464/translate -H 'Content-Type: application/json'
//     -d '{"source": ["Good morning."], "src_lang": "eng_Latn", "tgt_lang": "deu_Latn"}'
//   {"translation": ["Guten Morgen."]}
//
//   curl localhost:9464/translator -H 'Content-Type: application/json'
//     -d '{"text": "Good morning.", "source": "eng_Latn", "target": "deu_Latn"}'
//   {"result": "Guten Morgen."}

HttpResponse SubtitleError(int code, std::string_view message) {
  return JsonResponse(code, {{"status_code", code}, {"detail", std::string(message)}});
}

HttpResponse AnswerSubtitles(const DialectCall&, const v1::TranslateResponse& response) {
  const auto element = [](const v1::Translation&, const std::string& text) { return text; };
  return JsonResponse(200, {{"translation", ListOf(response, element)}});
}

HttpResponse AnswerSubtitle(const DialectCall&, const v1::TranslateResponse& response) {
  return JsonResponse(200, {{"result", TextOf(response)}});
}

constexpr Dialect kSubtitles = [] {
  Dialect row = Row<SubtitleError>("subtitle-edit", "/translate",
                                   {"source", "src_lang", "tgt_lang"}, ReadList, AnswerSubtitles);
  row.fields = {"src_lang", "tgt_lang"};
  return row;
}();
constexpr Dialect kSubtitle = Row<SubtitleError>(
    "subtitle-edit", "/translator", {"text", "source", "target"}, ReadOne, AnswerSubtitle);

// ---- The table ---------------------------------------------------------------------------------

constexpr const Dialect* kDialects[] = {
    &kSubtitles,          &kDeepLX,    &libretranslate::kTranslate,
    &kSubtitle,           &kImmersive, &kKissOne,
    &kKissList,           &kHcfy,      &kSingle,
    &kSingleOfMTranServer};

bool Speaks(const CompatFields& seen, const Dialect& dialect) {
  return absl::c_all_of(dialect.fields, [&](const char* field) { return seen.Has(field); });
}

void AddPath(const std::vector<const Dialect*>& dialects, const ApiContext& context,
             HttpRouter* router) {
  const Dialect& last = *dialects.back();
  router->BeginApi(last.api.name);
  std::vector<std::string_view> names;
  for (const Dialect* dialect : dialects) {
    names.insert(names.end(), dialect->fields.begin(), dialect->fields.end());
    names.push_back(dialect->api.key_field);
  }
  const auto translate = [=](HttpRequest http, std::shared_ptr<HttpAnswer> answer) {
    const CompatFields seen = CompatFields::Glance(http, names);
    const Dialect& found = **std::find_if(dialects.begin(), dialects.end() - 1,
                                          [&](const Dialect* d) { return Speaks(seen, *d); });
    UseKey(found.api, seen, &http);
    AnswerTranslate<DialectCall>(context, found.api, http, std::move(answer),
                                 {[&found](const CompatFields& of, DialectCall* call) {
                                    return found.read(found.api, of, call);
                                  },
                                  found.translated, found.error});
  };
  for (const char* method : {"POST", last.other_method}) {
    if (method == nullptr) continue;
    AddRoute(router, method, last.path, translate, last.plain_error, /*multipart=*/true);
  }
}

}  // namespace

void AddRoutes(const std::function<bool(std::string_view name)>& enabled, const ApiContext& context,
               HttpRouter* router) {
  std::map<std::string_view, std::vector<const Dialect*>> paths;
  for (const Dialect* dialect : kDialects) {
    if (enabled(dialect->api.name)) paths[dialect->path].push_back(dialect);
  }
  for (const auto& [path, dialects] : paths) AddPath(dialects, context, router);
}

}  // namespace dragoman::dialects
