// DeepL's API v2 (https://developers.deepl.com/docs), which CAT tools and DeepL's own libraries
// speak when given the address of this server.
//
//   curl localhost:9464/v2/translate -d text='Good morning.' -d target_lang=DE
//   {"translations": [{"detected_source_language": "EN", "text": "Guten Morgen."}]}

#include "server/compat/deepl.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/base/thread_annotations.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "engine/text/language_tag.h"
#include "server/api/kept.h"
#include "server/base/language_names.h"
#include "server/compat/compat.h"
#include "server/compat/fields.h"
#include "server/compat/stored_files.h"
#include "server/glossaries/glossary_store.h"

namespace dragoman::deepl {

const CompatApi kApi = {.name = "deepl",
                        .credential = "as `Authorization: DeepL-Auth-Key TOKEN`, or as auth_key",
                        .key_header = "authorization",
                        .key_scheme = "DeepL-Auth-Key ",
                        .key_field = "auth_key",
                        .texts = "text",
                        .source = "source_lang",
                        .target = "target_lang"};

HttpResponse Error(const absl::Status& status) {
  int code = IsTooLong(status) ? 413 : HttpCodeOf(status);
  if (code == 401) code = 403;  // the code that its clients know
  // The words that its clients look for.
  return JsonResponse(
      code,
      {{"message", absl::StrReplaceAll(status.message(), {{"is not served", "is not supported"},
                                                          {"target_language:", "target_lang:"}})}});
}

HttpResponse PlainError(int code, std::string_view message) {
  return JsonResponse(code, {{"message", std::string(message)}});
}

constexpr int kLeastPercent = 50;  // that a sentence must have in common with one of a memory here

absl::Status RefuseUnsupported(const CompatFields& fields) {
  RETURN_IF_ERROR(fields.Refuse({"style_id", "custom_instructions"}));
  ASSIGN_OR_RETURN(const std::string formality, fields.Text("formality", "default"));
  if (formality == "more" || formality == "less") {
    return InvalidField("formality", "is not supported for the given target_lang");
  }
  if (formality != "default" && formality != "prefer_more" && formality != "prefer_less") {
    return InvalidField("formality", "\"", formality.substr(0, 32), "\" is not a formality");
  }
  return absl::OkStatus();
}

absl::Status AddKeptIds(const CompatFields& fields, v1::TranslateRequest* request) {
  for (const char* name : {"glossary_id", "glossary_ids"}) {
    ASSIGN_OR_RETURN(const std::vector<std::string> ids, fields.Names(name));
    for (const std::string& id : ids) request->add_glossary_ids(id);
  }
  ASSIGN_OR_RETURN(const std::string memory, fields.Text("translation_memory_id"));
  if (!memory.empty()) request->add_memory_ids(memory);
  constexpr char kThreshold[] = "translation_memory_threshold";
  if (!fields.Has(kThreshold)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const int percent, fields.Number(kThreshold, 0));
  if (percent > 100) return InvalidField(kThreshold, "is not a percentage, 0 to 100");
  request->set_memory_threshold(std::max(percent, kLeastPercent));
  return absl::OkStatus();
}

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone());
}

std::string IdIn(const HttpRequest& http, std::string_view path) {
  const size_t before = path.find('*');
  if (before == path.npos) return "";
  return http.path.substr(before, http.path.size() - (path.size() - 1));
}

HttpHandler KeptHandler(const ApiContext& context, const KeptRoute& to) {
  const CompatMethod method = {kApi, to.call, Error, {.work = CallWork::kStore}};
  return [context, to, method](HttpRequest http, std::shared_ptr<HttpAnswer> answer) {
    UseKey(kApi, &http);
    const auto request = std::make_shared<const HttpRequest>(std::move(http));
    AnswerCall(context, method, *request, std::move(answer), CompatFields::Read,
               [request, to](const CompatFields& of, Call* call) {
                 return to.answer({*request, of, call, IdIn(*request, to.path),
                                   to.path.starts_with("/v3/"), AskerOf(*call)});
               });
  };
}

void AddKeptRoute(const ApiContext& context, const KeptRoute& to, HttpRouter* router) {
  AddRoute(router, to.method, to.path, KeptHandler(context, to), PlainError);
}

namespace {

using Json = nlohmann::ordered_json;

// "DE" of "de", "EN-US" of "en-US".
std::string Upper(const std::string& tag) { return absl::AsciiStrToUpper(tag); }

// The characters that each principal has had translated by this server.  Thread-safe.
class Usage {
 public:
  void Add(const std::string& principal, int64_t characters) {
    absl::MutexLock lock(&mutex_);
    counts_[principal] += characters;
  }
  int64_t Of(const std::string& principal) const {
    absl::MutexLock lock(&mutex_);
    const auto found = counts_.find(principal);
    return found == counts_.end() ? 0 : found->second;
  }

 private:
  mutable absl::Mutex mutex_;
  std::map<std::string, int64_t> counts_ ABSL_GUARDED_BY(mutex_);
};

struct DeepLCall {
  std::shared_ptr<Usage> usage;
  std::string principal;
  std::string source;                // as DeepL writes it; empty: to be detected
  std::string model_type;            // that was used; "": nobody asked
  std::vector<int> lines;            // of each text, if its lines are translated one by one
  std::string tag_handling_version;  // if it was given
  bool count_characters = false;
  std::vector<int> characters;
  std::vector<std::string> ignored;
};

// Reads tag_handling and what belongs to it.
absl::Status SetMarkup(const CompatFields& fields, DeepLCall* call, v1::TranslateRequest* request) {
  ASSIGN_OR_RETURN(const v1::Markup markup, TagHandlingOf(fields));
  request->set_markup(markup);
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

// A text that is one sentence would lose its line breaks.
void SplitLines(DeepLCall* call, v1::TranslateRequest* request) {
  const std::vector<std::string> texts(request->contents().begin(), request->contents().end());
  request->clear_contents();
  for (const std::string& text : texts) {
    const int before = request->contents_size();
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      request->add_contents(std::string(line));
    }
    call->lines.push_back(request->contents_size() - before);
  }
}

// Line breaks of HTML end no sentence unless the request says so.
absl::Status SetSplitting(const CompatFields& fields, DeepLCall* call,
                          v1::TranslateRequest* request) {
  const bool is_html = request->markup() == v1::MARKUP_HTML;
  ASSIGN_OR_RETURN(const std::string value,
                   fields.Text("split_sentences", is_html ? "nonewlines" : "1"));
  if (value == "0") {
    request->set_sentence_splitting(v1::SENTENCE_SPLITTING_NONE);
    if (request->markup() == v1::MARKUP_NONE) SplitLines(call, request);
  } else if (value == "nonewlines") {
    request->mutable_markup_options()->set_join_lines(!is_html || fields.Has("split_sentences"));
  } else if (value != "1") {
    return InvalidField("split_sentences", "\"", value.substr(0, 32),
                        "\" is none of 0, 1 and nonewlines");
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::TranslateRequest> ReadTranslate(const CompatFields& fields, DeepLCall* call) {
  RETURN_IF_ERROR(RefuseUnsupported(fields));
  ASSIGN_OR_RETURN(v1::TranslateRequest request, ReadRequest(kApi, fields));
  ASSIGN_OR_RETURN(call->source, fields.Text("source_lang"));
  ASSIGN_OR_RETURN(const std::string model_type, fields.Text("model_type"));
  call->model_type = std::string(absl::StripPrefix(model_type, "prefer_"));
  if (!model_type.empty() && call->model_type != "quality_optimized" &&
      call->model_type != "latency_optimized") {
    return InvalidField("model_type", "\"", model_type.substr(0, 32), "\" is not a model type");
  }
  for (const char* name :
       {"context", "formality", "preserve_formatting", "enable_beta_languages"}) {
    if (fields.Has(name)) call->ignored.emplace_back(name);
  }
  ASSIGN_OR_RETURN(call->count_characters, fields.Flag("show_billed_characters", false));
  for (const std::string& text : request.contents()) {
    call->characters.push_back(CountCodePoints(text));
  }
  RETURN_IF_ERROR(SetMarkup(fields, call, &request));
  RETURN_IF_ERROR(SetSplitting(fields, call, &request));
  RETURN_IF_ERROR(AddKeptIds(fields, &request));
  return request;
}

HttpResponse Translated(const DeepLCall& call, const v1::TranslateResponse& response) {
  Json translations = Json::array();
  int next = 0;
  for (size_t i = 0; i < call.characters.size(); ++i) {
    const v1::Translation& translation = response.translations(next++);
    const std::string& source = call.source.empty() ? translation.detected_language() : call.source;
    std::string text = translation.hypotheses(0).text();
    for (int line = 1; !call.lines.empty() && line < call.lines[i]; ++line) {
      absl::StrAppend(&text, "\n", response.translations(next++).hypotheses(0).text());
    }
    Json to = {{"detected_source_language", Upper(source)}, {"text", std::move(text)}};
    if (!call.model_type.empty()) to["model_type_used"] = call.model_type;
    call.usage->Add(call.principal, call.characters[i]);
    if (!call.tag_handling_version.empty()) {
      to["tag_handling_version"] = call.tag_handling_version;
    }
    if (call.count_characters) to["billed_characters"] = call.characters[i];
    translations.push_back(std::move(to));
  }
  return WithIgnored(call.ignored, JsonResponse(200, {{"translations", std::move(translations)}}));
}

// The targets that DeepL and its clients have instead of a language without a region.
struct Variants {
  std::string_view tag;
  const char* targets[2];
};
constexpr Variants kVariants[] = {
    {"en", {"EN-GB", "EN-US"}}, {"pt", {"PT-BR", "PT-PT"}}, {"zh", {"ZH", "ZH-HANS"}}};

// The language of a list, or its variants.
void AddLanguage(const std::string& tag, bool target, Json* list) {
  const auto add = [&](const std::string& code) {
    Json language = {{"language", code}, {"name", NameOf(code, "en")}};
    if (target) language["supports_formality"] = false;
    list->push_back(std::move(language));
  };
  for (const Variants& each : kVariants) {
    if (!target || each.tag != tag) continue;
    for (const char* code : each.targets) add(code);
    return;
  }
  add(Upper(tag));
}

CompatAnswer ListLanguages(const CompatFields& fields, Call* call) {
  ASSIGN_OR_RETURN(const std::string type, fields.Text("type", "source"));
  if (type != "source" && type != "target") {
    return InvalidField("type", "is neither \"source\" nor \"target\"");
  }
  std::set<std::string> tags;
  for (const auto& [source, targets] : PairsOf(*call)) {
    if (type == "source") {
      tags.insert(source);
    } else {
      tags.insert(targets.begin(), targets.end());
    }
  }
  Json body = Json::array();
  for (const std::string& tag : tags) AddLanguage(tag, type == "target", &body);
  return JsonResponse(200, body);
}

// None if the server keeps no glossaries.
HttpResponse ListGlossaryPairs(const CompatFields&, Call* call) {
  Json pairs = Json::array();
  if (call->parts().glossaries != nullptr) {
    for (const auto& [source, targets] : PairsOf(*call)) {
      for (const std::string& target : targets) {
        pairs.push_back({{"source_lang", source}, {"target_lang", target}});
      }
    }
  }
  return JsonResponse(200, {{"supported_languages", std::move(pairs)}});
}

// There is no charge per character here.  With a quota, these are rows of work: the limit is
// reached when the next call is refused.  Without, the limit is the number that DeepL's own server
// reports for an unlimited account.
HttpResponse DescribeUsage(const Usage& usage, Call* call) {
  const std::string& principal = call->principal();
  int64_t count = usage.Of(principal), limit = 1'000'000'000'000;
  if (const Quota quota = call->parts().principals->QuotaOf(principal); quota.per_minute > 0) {
    limit = static_cast<int64_t>(std::ceil(quota.Size()));
    const double left = std::max(0.0, call->parts().pool->QuotaLeft(principal, quota));
    count = limit - std::min(limit, static_cast<int64_t>(std::ceil(left)));
  }
  return JsonResponse(200, {{"character_count", count}, {"character_limit", limit}});
}

// DeepL refuses a glossary of other languages.  The thread may wait for the store.
absl::Status CheckGlossaries(const ApiContext& context, const std::string& principal,
                             absl::Time deadline, const v1::TranslateRequest& request) {
  for (const std::string& id : request.glossary_ids()) {
    ASSIGN_OR_RETURN(const Owned glossary,
                     context.parts->glossaries->Describe({StoreDeadline(deadline), principal}, id));
    const std::string& source = request.source_language();
    const bool fits = absl::c_any_of(glossary.lists, [&](const OwnedList& list) {
      return (source == "auto" || IsLanguage(list.languages.source, source)) &&
             IsLanguage(list.languages.target, request.target_language());
    });
    if (!fits) {
      return InvalidField("glossary_id", "No dictionary found for language pair: glossary \"", id,
                          "\" is for other languages");  // clients look for it
    }
  }
  return absl::OkStatus();
}

HttpHandler TranslateText(const ApiContext& context, const std::shared_ptr<Usage>& usage) {
  return [context, usage](HttpRequest http, std::shared_ptr<HttpAnswer> answer) {
    const auto request = std::make_shared<HttpRequest>(std::move(http));
    const auto seen =
        CompatFields::Glance(*request, {kApi.key_field, "glossary_id", "glossary_ids"});
    UseKey(kApi, seen, request.get());
    const auto read = [context, usage, request](
                          const CompatFields& of,
                          DeepLCall* call) -> absl::StatusOr<v1::TranslateRequest> {
      const Caller caller = CallerOf(*request, kApi.name);
      ASSIGN_OR_RETURN(const Permit permit, context.parts->principals->Identify(caller));
      call->usage = usage;
      call->principal = permit.principal();
      ASSIGN_OR_RETURN(v1::TranslateRequest wanted, ReadTranslate(of, call));
      RETURN_IF_ERROR(CheckGlossaries(context, call->principal, caller.deadline, wanted));
      return wanted;
    };
    const auto translate = [=] {
      AnswerTranslate<DeepLCall>(context, kApi, *request, answer, {read, Translated, Error});
    };
    if (seen.Has("glossary_id") || seen.Has("glossary_ids")) {
      return WithStore(context, *request, answer, Error, translate);
    }
    translate();
  };
}

}  // namespace

void AddRoutes(const ApiContext& context, HttpRouter* router) {
  const auto add = [&](const char* method, const char* path, const HttpHandler& handler) {
    AddRoute(router, method, path, handler, PlainError);
  };
  // A path, for any method, that is answered at once.
  const auto answer_at_once = [&](const char* path, const std::function<CompatAct>& act) {
    const HttpHandler handler = AnswerWith(context, {kApi, "ListModels", Error}, act);
    for (const char* method : {"GET", "POST"}) add(method, path, handler);
  };
  const auto usage = std::make_shared<Usage>();
  const HttpHandler translate = TranslateText(context, usage);
  add("POST", "/v2/translate", translate);
  add("GET", "/v2/translate", translate);  // older clients put everything into the query
  add("GET", "/v1/translate", translate);  // and OmegaT; POST is the server's own API
  answer_at_once("/v2/languages", ListLanguages);
  answer_at_once("/v2/usage",
                 [usage](const CompatFields&, Call* call) { return DescribeUsage(*usage, call); });
  // Weblate asks for these before each translation.
  answer_at_once("/v2/glossary-language-pairs", ListGlossaryPairs);
  deepl_glossaries::AddRoutes(context, router);
  deepl_memories::AddRoutes(context, router);
  deepl_documents::AddRoutes(context, router);
  const HttpHandler refuse = AnswerAtOnce([](const HttpRequest&) {
    return PlainError(
        404,
        "this server has only translate, document, glossaries, translation memories, languages and "
        "usage");
  });
  const auto refuse_at = [&](const char* method, const char* path) {
    router->Add({.method = method, .path = path, .handler = refuse, .error = PlainError});
  };
  for (const char* method : {"GET", "POST"}) refuse_at(method, "/v2/**");
  for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE"}) {
    for (const char* path : {"/v3/style_rules", "/v3/style_rules/**"}) refuse_at(method, path);
  }
}

}  // namespace dragoman::deepl
