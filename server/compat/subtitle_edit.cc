// The two ways in which Subtitle Edit (https://github.com/SubtitleEdit/subtitleedit) calls servers
// of one's own: that of nllb-serve (https://github.com/thammegowda/nllb-serve) and that of nllb-api
// (https://github.com/winstxnhdw/nllb-api).  Languages may have codes such as "eng_Latn".
//
//   curl localhost:9464/translate -H 'Content-Type: application/json'
//     -d '{"source": ["Good morning."], "src_lang": "eng_Latn", "tgt_lang": "deu_Latn"}'
//   {"translation": ["Guten Morgen."]}
//
//   curl localhost:9464/translator -H 'Content-Type: application/json'
//     -d '{"text": "Good morning.", "source": "eng_Latn", "target": "deu_Latn"}'
//   {"result": "Guten Morgen."}

#include <utility>

#include "engine/base/status.h"
#include "server/compat/compat.h"
#include "server/compat/fields.h"

namespace dragoman::subtitle_edit {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kCredential[] = "as a bearer token, or as token in the query";
constexpr CompatApi kList = {.name = "subtitle-edit",
                             .credential = kCredential,
                             .key_field = "token",
                             .texts = "source",
                             .source = "src_lang",
                             .target = "tgt_lang"};
constexpr CompatApi kSingle = {.name = "subtitle-edit",
                               .credential = kCredential,
                               .key_field = "token",
                               .texts = "text",
                               .source = "source",
                               .target = "target"};

HttpResponse PlainError(int code, std::string_view message) {
  return JsonResponse(code, {{"status_code", code}, {"detail", std::string(message)}});
}

struct Nothing {};

absl::StatusOr<v1::TranslateRequest> ReadList(const CompatFields& fields, Nothing*) {
  return ReadRequest(kList, fields);
}

HttpResponse TranslatedList(const Nothing&, const v1::TranslateResponse& response) {
  Json texts = Json::array();
  for (const v1::Translation& translation : response.translations()) {
    texts.push_back(translation.hypotheses(0).text());
  }
  return JsonResponse(200, {{"translation", std::move(texts)}});
}

absl::StatusOr<v1::TranslateRequest> ReadSingle(const CompatFields& fields, Nothing*) {
  if (fields.IsList(kSingle.texts)) return InvalidField(kSingle.texts, "is not one text");
  return ReadRequest(kSingle, fields);
}

HttpResponse TranslatedSingle(const Nothing&, const v1::TranslateResponse& response) {
  return JsonResponse(200, {{"result", response.translations(0).hypotheses(0).text()}});
}

void TranslateList(const ApiContext& context, HttpRequest http,
                   const absl::StatusOr<CompatFields>& fields, std::shared_ptr<HttpAnswer> answer) {
  UseKey(kList, fields, &http);
  AnswerTranslate<Nothing>(context, kList, http, fields, std::move(answer),
                           {ReadList, TranslatedList, ErrorByCode<PlainError>});
}

}  // namespace

const SharedTranslate kSharedTranslate = {TranslateList, PlainError};

void AddRoutes(const ApiContext& context, HttpRouter* router) {
  router->Add({.method = "POST",
               .path = "/translator",
               .handler = TranslateHandler<Nothing>(
                   context, kSingle, {ReadSingle, TranslatedSingle, ErrorByCode<PlainError>}),
               .body_types = {"application/json"},
               .error = PlainError});
}

}  // namespace dragoman::subtitle_edit
