// The API of DeepLX (https://github.com/OwO-Network/DeepLX), which browser extensions, Bob, Pot and
// other dictionaries speak.  Its /v2/translate is DeepL's own; its /v1/translate is not offered,
// because that path is this server's own API.
//
//   curl localhost:9464/translate -H 'Content-Type: application/json'
//     -d '{"text": "Good morning.", "source_lang": "EN", "target_lang": "DE"}'
//   {"code": 200, "id": 1700000000000, "data": "Guten Morgen.", "alternatives": [],
//    "source_lang": "EN", "target_lang": "DE", "method": "Free"}

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "engine/base/status.h"
#include "server/compat/compat.h"
#include "server/compat/fields.h"

namespace dragoman::deeplx {
namespace {

constexpr CompatApi kApi = {.name = "deeplx",
                            .credential = "as a bearer token, or as token in the query",
                            .key_header = "authorization",
                            .key_scheme = "DeepL-Auth-Key ",
                            .key_field = "token",
                            .texts = "text",
                            .source = "source_lang",
                            .target = "target_lang"};

HttpResponse PlainError(int code, std::string_view message) {
  return JsonResponse(code, {{"code", code}, {"message", std::string(message)}});
}

struct DeepLXCall {
  std::string source;  // as it was given; empty: to be detected
  std::string target;
};

absl::StatusOr<v1::TranslateRequest> ReadTranslate(const CompatFields& fields, DeepLXCall* call) {
  if (fields.IsList(kApi.texts)) return InvalidField(kApi.texts, "is not one text");
  ASSIGN_OR_RETURN(v1::TranslateRequest request, ReadRequest(kApi, fields));
  if (absl::EqualsIgnoreCase(request.source_language(), "auto")) {
    request.set_source_language("auto");
  } else {
    call->source = request.source_language();
  }
  call->target = request.target_language();
  ASSIGN_OR_RETURN(const v1::Markup markup, TagHandlingOf(fields));
  request.set_markup(markup);
  return request;
}

HttpResponse Translated(const DeepLXCall& call, const v1::TranslateResponse& response) {
  const v1::Translation& translation = response.translations(0);
  const std::string& source = call.source.empty() ? translation.detected_language() : call.source;
  return JsonResponse(200, {{"code", 200},
                            {"id", absl::ToUnixMillis(absl::Now())},
                            {"data", translation.hypotheses(0).text()},
                            {"alternatives", nlohmann::ordered_json::array()},
                            {"source_lang", absl::AsciiStrToUpper(source)},
                            {"target_lang", absl::AsciiStrToUpper(call.target)},
                            {"method", "Free"}});
}

void Translate(const ApiContext& context, HttpRequest http,
               const absl::StatusOr<CompatFields>& fields, std::shared_ptr<HttpAnswer> answer) {
  UseKey(kApi, fields, &http);
  AnswerTranslate<DeepLXCall>(context, kApi, http, fields, std::move(answer),
                              {ReadTranslate, Translated, ErrorByCode<PlainError>});
}

}  // namespace

const SharedTranslate kSharedTranslate = {Translate, PlainError};

}  // namespace dragoman::deeplx
