// Support for programs that speak another translation API and let users set its address: one file
// for each API, over the same exchange as all the others.
//
//   libretranslate   POST /translate, /detect, GET /languages, /frontend/settings, /health
//   deepl            /v2/translate, /v2/languages, /v2/usage
//   google           /language/translate/v2, .../detect, .../languages
//
// Features of such an API that this server cannot provide (stored glossaries, formality) are
// refused by name.  Options that can be ignored without breaking a promise are listed in the header
// X-Dragoman-Ignored.

#ifndef DRAGOMAN_SERVER_COMPAT_COMPAT_H_
#define DRAGOMAN_SERVER_COMPAT_COMPAT_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/status.h"
#include "server/compat/fields.h"
#include "server/compat/names.h"
#include "server/http/door.h"
#include "server/http/router.h"

namespace dragoman {

// Adds the routes of the APIs with these names.  REQUIRES: KnowsCompat is true for each.
void AddCompat(const std::vector<std::string>& names, const HttpDoor& door, HttpRouter* router);

void AddLibreTranslate(const HttpDoor& door, HttpRouter* router);
void AddDeepL(const HttpDoor& door, HttpRouter* router);
void AddGoogle(const HttpDoor& door, HttpRouter* router);

// ---- What they share ---------------------------------------------------------------------------

inline constexpr char kIgnored[] = "X-Dragoman-Ignored";
inline constexpr char kForm[] = "application/x-www-form-urlencoded";

// Writes the error of a call in the format of the API.
using CompatError = std::function<HttpResponse(const absl::Status& status)>;

// The target languages of each source language, over all served models.
using ServedPairs = std::map<std::string, std::set<std::string>>;

// A call that is answered at once, if the caller is admitted; recorded as `method`.
template <typename Value>
using Answered = std::function<absl::StatusOr<Value>(Call* call)>;
HttpResponse AnswerCall(const HttpDoor& door, const char* door_name, const char* method,
                        const HttpRequest& http, const CompatError& error,
                        const Answered<HttpResponse>& answer);

// REQUIRES: the call is not yet admitted.
absl::StatusOr<ServedPairs> ListPairs(const HttpDoor& door, Call* call);

// All languages of the pairs.
std::set<std::string> CodesOf(const ServedPairs& pairs);

// What `format` says that the texts are: "text" or "html".
absl::StatusOr<v1::Markup> FormatOf(const CompatFields& fields, const char* otherwise);

// Uses the key of another API as our bearer token, unless the request has one.
void UseToken(const std::string& token, HttpRequest* http);

// Adds the headers for the end of a call to the API's `response` or `error`.
HttpResponse WithHeaders(HttpResponse response, const CallEnd& end);

// How an API writes a translation call.  A Noted keeps what its answer depends on besides the
// translations, such as the options that were ignored.
template <typename Noted>
struct TranslateFormat {
  absl::StatusOr<v1::TranslateRequest> (*read)(const CompatFields& fields, Noted* noted);
  HttpResponse (*translated)(const Noted& noted, const v1::TranslateResponse& response);
  HttpResponse (*error)(const absl::Status& status);
};

// Answers a call with these `fields`, or with their error.
template <typename Noted>
void AnswerTranslate(const HttpDoor& door, const char* door_name, const HttpRequest& http,
                     const absl::StatusOr<CompatFields>& fields, std::shared_ptr<HttpAnswer> answer,
                     const TranslateFormat<Noted>& format) {
  const auto noted = std::make_shared<Noted>();
  TranslateOverHttp(
      door, door_name, http, std::move(answer),
      [&]() -> absl::StatusOr<v1::TranslateRequest> {
        RETURN_IF_ERROR(fields.status());
        return format.read(*fields, noted.get());
      },
      [noted, format](const CallEnd& end, const v1::TranslateResponse& response) {
        return WithHeaders(
            end.status.ok() ? format.translated(*noted, response) : format.error(end.status), end);
      });
}

// A request that splits its texts into sentences, as these APIs do.
v1::TranslateRequest NewTranslateRequest(std::vector<std::string> texts, std::string source,
                                         std::string target);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_COMPAT_COMPAT_H_
