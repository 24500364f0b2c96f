// Support for programs that speak another translation API and let users set its address: one file
// for each API, over the same exchange as all the others.
//
//   azure                /translate, /detect, /languages with ?api-version=; /breaksentence;
//                        /translator/document:translate
//   deepl                /v2/translate, /v2/languages, /v2/usage, /v2/document, /v2/glossaries,
//                        /v3/glossaries, /v3/translation_memories
//   deeplx               POST /translate with the fields text and target_lang
//   google               /language/translate/v2, .../detect, .../languages; /v3/projects/...;
//                        /translate_a/single
//   hcfy                 POST /hcfy
//   immersive-translate  POST /imme
//   kiss-translator      POST /kiss
//   libretranslate       POST /translate, /detect, GET /languages, /frontend/settings, /health
//   open-inference       /v2, /v2/health/..., /v2/models/...
//   openai               POST /v1/chat/completions
//   subtitle-edit        POST /translate with the fields src_lang and tgt_lang, POST /translator
//
// google and open-inference also have services over gRPC (rpc.h).
//
// Where paths collide, the router tells Azure's calls by their parameter, and dialects.h the others
// by the names of their fields.
//
// Features of such an API that this server cannot provide (formality, profanity) are
// refused by name.  Options that can be ignored without breaking a promise are listed in the header
// X-Dragoman-Ignored.

#ifndef DRAGOMAN_SERVER_COMPAT_COMPAT_H_
#define DRAGOMAN_SERVER_COMPAT_COMPAT_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_join.h"
#include "engine/base/status.h"
#include "engine/request/translator.h"
#include "server/api/answered_call.h"
#include "server/compat/fields.h"
#include "server/compat/names.h"
#include "server/http/api_context.h"
#include "server/http/router.h"

namespace dragoman {

// Adds the routes of the APIs with these names.  REQUIRES: all are of kCompatNames (names.h).
void AddCompat(const std::vector<std::string>& names, const ApiContext& context,
               HttpRouter* router);

// Each file has a namespace, for the APIs have the same things: a kApi, an Error, a Translate.
// AddRoutes adds its paths, but for those of dialects.h.
using AddCompatRoutes = void(const ApiContext& context, HttpRouter* router);
namespace azure {
AddCompatRoutes AddRoutes;
}
namespace azure_documents {
AddCompatRoutes AddRoutes;
}
namespace deepl {
AddCompatRoutes AddRoutes;
}
namespace deepl_documents {
AddCompatRoutes AddRoutes;
}
namespace deepl_glossaries {
AddCompatRoutes AddRoutes;
}
namespace deepl_memories {
AddCompatRoutes AddRoutes;
}
namespace google_documents {
AddCompatRoutes AddRoutes;  // before google_translate's, whose path fits, too
}
namespace google_glossaries {
AddCompatRoutes AddRoutes;  // likewise
}
namespace google_translate {
AddCompatRoutes AddRoutes;
}
namespace libretranslate {
AddCompatRoutes AddRoutes;
}
namespace openai {
AddCompatRoutes AddRoutes;
}
namespace open_inference {
AddCompatRoutes AddRoutes;
}

// ---- What they share ---------------------------------------------------------------------------

inline constexpr char kIgnored[] = "X-Dragoman-Ignored";
inline constexpr char kForm[] = "application/x-www-form-urlencoded";

// What an API calls things, and where its callers put the server's token, besides a bearer token.
struct CompatApi {
  const char* name;             // in the log
  const char* credential;       // where the token goes, in words for who forgot it
  const char* key_header = "";  // in lower case
  const char* key_scheme = "";  // in front of the token in that header
  const char* key_field = "";   // a field of the body or of the query
  const char* service = "";     // over gRPC
  // Its names for contents, source_language and target_language.
  const char* texts;
  const char* source;
  const char* target;
};

// The error in words that the API's callers know: with its name of the field or of the credential.
absl::Status InWordsOf(const CompatApi& api, const absl::Status& status);

// Whether a request is too long, as a message or as texts.
inline bool IsTooLong(const absl::Status& status) {
  return HttpCodeOf(status) == 413 || status.GetPayload(kTooLongPayload).has_value();
}

// The token of a call to this API becomes its bearer token, unless it has one.
void UseKey(const CompatApi& api, const absl::StatusOr<CompatFields>& fields, HttpRequest* http);

// Uses the key of the body or the query, of which nothing else is read: that is for whose token is
// right.  They are not looked at if the API has no such field, or a header has a token.
void UseKey(const CompatApi& api, HttpRequest* http);

// Uses the key of the query, which may be wrong otherwise.
inline void UseKeyOfQuery(const CompatApi& api, HttpRequest* http) {
  UseKey(api, CompatFields::ReadQuery(*http), http);
}

// "https://example.org", as the sender of the request sees this server.
std::string OriginOf(const HttpRequest& http);

// A handler that calls this.
using CompatHandler = void(const ApiContext& context, HttpRequest http,
                           std::shared_ptr<HttpAnswer> answer);
HttpHandler HandlerOf(const ApiContext& context, CompatHandler* handle);

// Adds a route; bodies are JSON or a form, perhaps also of the multipart kind.
void AddRoute(HttpRouter* router, const char* method, std::string path, HttpHandler handler,
              HttpErrorBody error, bool multipart = false);

// Writes the error of a call in the format of the API.
using CompatError = std::function<HttpResponse(const absl::Status& status)>;

// The target languages of each source language, over all served models.
using ServedPairs = std::map<std::string, std::set<std::string>>;

// Answers an admitted call.
using CompatAnswer = absl::StatusOr<HttpResponse>;
using CompatAct = CompatAnswer(const CompatFields& fields, Call* call);

// How calls are answered by an act, and recorded.
struct CompatMethod {
  const CompatApi& api;  // which outlives all calls
  const char* name;      // in the metrics and the log
  CompatError error;
  AnswerTerms terms = {};
  HttpResponse (*complete)(HttpResponse response) = nullptr;  // adds to any answer's headers
};

// Reads what an act wants of a request, when the caller is admitted.
using CompatRead = std::function<absl::StatusOr<CompatFields>(const HttpRequest& http)>;
// Answers a call with these fields, or with their error.
void AnswerCall(const ApiContext& context, const CompatMethod& method, const HttpRequest& http,
                std::shared_ptr<HttpAnswer> answer, const CompatRead& read,
                std::function<CompatAct> act);
// The handler of such calls, which uses their key.
HttpHandler AnswerWith(const ApiContext& context, const CompatMethod& method,
                       std::function<CompatAct> act, CompatRead read = CompatFields::Read);

// INVALID_ARGUMENT with the API's field for texts if they are more or longer than those of one call
// may be.
absl::Status CheckTexts(const ServerParts& parts, const CompatApi& api,
                        const std::vector<std::string>& texts);

// Of the models that the caller may use, also through the pivot language.
ServedPairs PairsOf(const ServerParts& parts, const Permit& permit);
// REQUIRES: the call was admitted.
inline ServedPairs PairsOf(const Call& call) { return PairsOf(call.parts(), call.permit()); }

// All languages of the pairs.
std::set<std::string> CodesOf(const ServedPairs& pairs);

// What `format` says that the texts are: "text" or "html".
absl::StatusOr<v1::Markup> FormatOf(const CompatFields& fields, const char* otherwise);

// What `tag_handling` says that they are: "html", "xml" or nothing.
absl::StatusOr<v1::Markup> TagHandlingOf(const CompatFields& fields);

// Adds the header that names the options that were ignored.
template <typename Names>
HttpResponse WithIgnored(const Names& names, HttpResponse response) {
  if (!names.empty()) response.headers.emplace_back(kIgnored, absl::StrJoin(names, ", "));
  return response;
}

// Adds the headers for the end of a call to the API's `response` or `error`.
HttpResponse WithHeaders(HttpResponse response, const CallEnd& end);

// How an API writes a translation call.  A Noted keeps what its answer depends on besides the
// translations, such as the options that were ignored.
template <typename Noted>
struct TranslateFormat {
  std::function<absl::StatusOr<v1::TranslateRequest>(const CompatFields& fields, Noted* noted)>
      read;
  HttpResponse (*translated)(const Noted& noted, const v1::TranslateResponse& response);
  HttpResponse (*error)(const absl::Status& status);
};

// Answers a call with its fields, or with their error.  `api` must outlive the call.
template <typename Noted>
void AnswerTranslate(const ApiContext& context, const CompatApi& api, const HttpRequest& http,
                     std::shared_ptr<HttpAnswer> answer, const TranslateFormat<Noted>& format) {
  const auto noted = std::make_shared<Noted>();
  TranslateOverHttp(
      context, api.name, http, std::move(answer),
      [&]() -> absl::StatusOr<v1::TranslateRequest> {
        ASSIGN_OR_RETURN(const CompatFields fields, CompatFields::Read(http));
        return format.read(fields, noted.get());
      },
      [noted, format, &api](const CallEnd& end, const v1::TranslateResponse& response) {
        return WithHeaders(end.status.ok() ? format.translated(*noted, response)
                                           : format.error(InWordsOf(api, end.status)),
                           end);
      });
}

// The handler of a route that only translates.  `api` must outlive it.
template <typename Noted>
HttpHandler TranslateHandler(const ApiContext& context, const CompatApi& api,
                             const TranslateFormat<Noted>& format) {
  return [context, &api, format](HttpRequest http, std::shared_ptr<HttpAnswer> answer) {
    UseKey(api, &http);
    AnswerTranslate<Noted>(context, api, http, std::move(answer), format);
  };
}

// The error of an API that writes all errors alike, by their HTTP code.
template <HttpResponse (*plain)(int code, std::string_view message)>
HttpResponse ErrorByCode(const absl::Status& status) {
  return plain(HttpCodeOf(status), {status.message().data(), status.message().size()});
}

// A request that splits its texts into sentences, as these APIs do.  An empty source language is to
// be detected.
v1::TranslateRequest NewTranslateRequest(std::vector<std::string> texts, std::string source,
                                         std::string target);

// That of the API's fields for texts and languages, of which only the source may be missing.
absl::StatusOr<v1::TranslateRequest> ReadRequest(const CompatApi& api, const CompatFields& fields);
// The same for other texts than those of the fields.
absl::StatusOr<v1::TranslateRequest> ReadLanguages(const CompatApi& api, const CompatFields& fields,
                                                   std::vector<std::string> texts = {});

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_COMPAT_COMPAT_H_
