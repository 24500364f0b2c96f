// What Immersive Translate, a browser extension, asks of a server of one's own
// (https://immersivetranslate.com/en/docs/services/custom/).  The path and ?token= are those of
// MTranServer (https://github.com/xxnuo/MTranServer), whose users have set them already.
//
//   curl localhost:9464/imme -H 'Content-Type: application/json'
//     -d '{"source_lang": "auto", "target_lang": "de", "text_list": ["Good morning."]}'
//   {"translations": [{"detected_source_lang": "en", "text": "Guten Morgen."}]}

#include <utility>

#include "engine/base/status.h"
#include "server/compat/compat.h"
#include "server/compat/fields.h"

namespace dragoman::immersive_translate {
namespace {

using Json = nlohmann::ordered_json;

constexpr CompatApi kApi = {.name = "immersive-translate",
                            .credential = "as token in the query",
                            .key_field = "token",
                            .texts = "text_list",
                            .source = "source_lang",
                            .target = "target_lang"};

HttpResponse PlainError(int code, std::string_view message) {
  return JsonResponse(code, {{"error", std::string(message)}});
}

struct ImmersiveCall {
  std::string source;  // as it was given; "auto": to be detected
};

absl::StatusOr<v1::TranslateRequest> ReadTranslate(const CompatFields& fields,
                                                   ImmersiveCall* call) {
  ASSIGN_OR_RETURN(v1::TranslateRequest request, ReadRequest(kApi, fields));
  ASSIGN_OR_RETURN(call->source, fields.Text(kApi.source, "auto"));
  return request;
}

HttpResponse Translated(const ImmersiveCall& call, const v1::TranslateResponse& response) {
  Json translations = Json::array();
  for (const v1::Translation& translation : response.translations()) {
    const std::string& detected = translation.detected_language();
    translations.push_back({{"detected_source_lang", detected.empty() ? call.source : detected},
                            {"text", translation.hypotheses(0).text()}});
  }
  return JsonResponse(200, {{"translations", std::move(translations)}});
}

}  // namespace

void AddRoutes(const ApiContext& context, HttpRouter* router) {
  router->Add({.method = "POST",
               .path = "/imme",
               .handler = TranslateHandler<ImmersiveCall>(
                   context, kApi, {ReadTranslate, Translated, ErrorByCode<PlainError>}),
               .body_types = {"application/json"},
               .error = PlainError});
}

}  // namespace dragoman::immersive_translate
