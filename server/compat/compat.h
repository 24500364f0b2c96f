// Doors for programs that speak another translation API, and take the address of its server: one
// file each, over the same exchange as all the others.
//
//   libretranslate   POST /translate, /detect, GET /languages, /frontend/settings, /health
//   deepl            /v2/translate, /v2/languages, /v2/usage
//   google           /language/translate/v2, .../detect, .../languages
//
// What such an API offers and this server cannot do (HTML, stored glossaries, formality) is refused
// by name.  What changes nothing that was promised is named in the header X-Dragoman-Ignored.

#ifndef DRAGOMAN_SERVER_COMPAT_COMPAT_H_
#define DRAGOMAN_SERVER_COMPAT_COMPAT_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/compat/names.h"
#include "server/http/door.h"
#include "server/http/router.h"

namespace dragoman {

// Opens the doors of these names.  REQUIRES: KnowsCompat is true of each.
void AddCompat(const std::vector<std::string>& names, const HttpDoor& door, HttpRouter* router);

void AddLibreTranslate(const HttpDoor& door, HttpRouter* router);
void AddDeepL(const HttpDoor& door, HttpRouter* router);
void AddGoogle(const HttpDoor& door, HttpRouter* router);

// ---- What they share ---------------------------------------------------------------------------

inline constexpr char kIgnored[] = "X-Dragoman-Ignored";
inline constexpr char kForm[] = "application/x-www-form-urlencoded";

// The error of a call in the shape of the API.
using CompatError = std::function<HttpResponse(const absl::Status& status)>;

// Which target languages each source language has, by the models that are served.
using ServedPairs = std::map<std::string, std::set<std::string>>;

// Calls that are answered at once, for a caller who is admitted; booked as `method`.
template <typename Value>
using Answered = std::function<absl::StatusOr<Value>(Call* call)>;
HttpResponse AnswerCall(const HttpDoor& door, const char* door_name, const char* method,
                        const HttpRequest& http, const CompatError& error,
                        const Answered<HttpResponse>& answer);

// REQUIRES: the call is not yet admitted.
absl::StatusOr<ServedPairs> ListPairs(const HttpDoor& door, Call* call);

// Takes the key of another API for our bearer token, unless the request shows one.
void UseToken(const std::string& token, HttpRequest* http);

// The end of a call as headers, and the body of the API: `response` or `error`.
HttpResponse WithHeaders(HttpResponse response, const CallEnd& end);

// A request for texts, in whole sentences as these APIs translate them.
v1::TranslateRequest NewTranslateRequest(std::vector<std::string> texts, std::string source,
                                         std::string target);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_COMPAT_COMPAT_H_
