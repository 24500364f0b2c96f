// DeepL's API for files (https://developers.deepl.com/docs/api-reference/document), as its own
// libraries call it:
//
//   POST /v2/document             a form with a file   {"document_id": ..., "document_key": ...}
//   POST /v2/document/ID          document_key=KEY     {"status": "translating", ...}
//   POST /v2/document/ID/result   document_key=KEY     the translated file; afterwards it is gone
//
// Every call wants the token of the upload.

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "engine/base/status.h"
#include "server/compat/deepl.h"
#include "server/compat/stored_files.h"

namespace dragoman::deepl_documents {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kPath[] = "/v2/document/";
constexpr char kResult[] = "/result";

absl::Status ReadUpload(const CompatFields& fields, v1::DocumentHeader* header) {
  RETURN_IF_ERROR(deepl::RefuseUnsupported(fields));
  v1::TranslateRequest& request = *header->mutable_request();
  ASSIGN_OR_RETURN(request, ReadLanguages(deepl::kApi, fields));
  absl::AsciiStrToLower(request.mutable_target_language());
  ASSIGN_OR_RETURN(const std::string name, fields.Text("filename"));
  ASSIGN_OR_RETURN(const std::string format, fields.Text("output_format"));
  if (!name.empty()) header->set_file_name(name);
  if (!format.empty() && !absl::EndsWithIgnoreCase(header->file_name(), "." + format)) {
    return InvalidField("output_format", "is not that of the file, which is kept");
  }
  return deepl::AddKeptIds(fields, &request);
}

void Upload(const ApiContext& context, HttpRequest http, std::shared_ptr<HttpAnswer> answer) {
  const auto begun = [](const HttpRequest&, const StoredDocument& document,
                        const std::shared_ptr<HttpAnswer>& to) {
    to->Send(JsonResponse(200, {{"document_id", document.id}, {"document_key", document.key}}));
  };
  StoreUpload(context, deepl::kApi, std::move(http), std::move(answer),
              {.read = ReadUpload, .error = deepl::Error, .begun = begun, .ended = nullptr});
}

// The document that a call names, if it is one of the caller's.
absl::StatusOr<StoredDocument> FindDocument(const ApiContext& context, HttpRequest* http,
                                            const std::string& id) {
  RETURN_IF_ERROR(context.loaded());
  const auto fields = CompatFields::Glance(*http, {deepl::kApi.key_field, "document_key"});
  UseKey(deepl::kApi, fields, http);
  const Caller caller = CallerOf(*http, deepl::kApi.name);
  RETURN_IF_ERROR(caller.wrong);
  ASSIGN_OR_RETURN(const Permit permit, context.parts->principals->Identify(caller));
  ASSIGN_OR_RETURN(const std::string key, fields.Text("document_key"));
  ASSIGN_OR_RETURN(StoredDocument document, context.parts->stored_documents->Find(id));
  if (document.principal == permit.principal() && document.key == key) return document;
  return absl::NotFoundError("there is no such document (any more)");
}

HttpResponse Describe(const StoredDocument& document) {
  Json body = {{"document_id", document.id}};
  if (!document.end.has_value()) {
    body["status"] = document.progress.passages_known() == 0 ? "queued" : "translating";
    body["seconds_remaining"] =
        absl::ToInt64Seconds(absl::Ceil(document.TimeLeft(absl::Now()), absl::Seconds(1)));
  } else if (document.done()) {
    body["status"] = "done";
    body["billed_characters"] = document.report.characters();
  } else {
    const absl::Status status = InWordsOf(deepl::kApi, *document.end);
    body["status"] = "error";
    body["error_message"] = std::string(status.message());
    body["message"] = body["error_message"];
  }
  return JsonResponse(200, body);
}

void AnswerDocument(const ApiContext& context, HttpRequest http,
                    std::shared_ptr<HttpAnswer> answer) {
  std::string id = http.path.substr(sizeof(kPath) - 1);
  const bool wants_result = id.ends_with(kResult);
  if (wants_result) id.resize(id.size() - (sizeof(kResult) - 1));
  const absl::StatusOr<StoredDocument> document = FindDocument(context, &http, id);
  if (!document.ok()) {
    const absl::Status status = InWordsOf(deepl::kApi, document.status());
    return answer->Send(WithHeaders(deepl::Error(status), {.status = status}));
  }
  if (!wants_result) return answer->Send(Describe(*document));
  if (document->done()) return SendStored(context, *document, answer);
  // The code that DeepL gives.
  answer->Send(deepl::PlainError(503, "the document is not translated (yet)"));
}

}  // namespace

void AddRoutes(const ApiContext& context, HttpRouter* router) {
  AddFileRoute(context, deepl::kApi, "/v2/document", {.key_field = deepl::kApi.key_field}, Upload,
               deepl::PlainError, router);
  for (const char* end : {"", kResult}) {
    AddRoute(router, "POST", absl::StrCat(kPath, "*", end),
             WithStore(context, deepl::Error, HandlerOf(context, AnswerDocument)),
             deepl::PlainError);
  }
}

}  // namespace dragoman::deepl_documents
