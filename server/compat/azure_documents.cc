// The call of Azure Translator that translates a file at once
// (https://learn.microsoft.com/azure/ai-services/translator/document-translation/reference/synchronous-rest-api-guide).
// The query has the languages, a form has the file, and the answer is the file.
//
//   curl 'localhost:9464/translator/document:translate?targetLanguage=de&api-version=2024-05-01'
//     -F 'document=@letter.txt' -o letter.de.txt

#include <array>
#include <utility>

#include "absl/algorithm/container.h"
#include "engine/base/field_error.h"
#include "engine/base/status.h"
#include "server/compat/azure.h"
#include "server/compat/fields.h"
#include "server/compat/stored_files.h"

namespace dragoman::azure_documents {
namespace {

using Json = nlohmann::ordered_json;

constexpr CompatApi kApi = AzureApi("document", "sourceLanguage", "targetLanguage");
constexpr char kDocument[] = "document";
constexpr std::array<std::string_view, 3> kVersions = {"2024-05-01", "2024-11-01-preview",
                                                       "2026-03-01"};

Json ErrorBody(int code, std::string_view message) {
  const char* const name = code == 401 || code == 403 ? "Unauthorized"
                           : code == 404              ? "ResourceNotFound"
                           : code == 429              ? "RequestRateTooHigh"
                           : code == 503              ? "ServiceUnavailable"
                           : code >= 500              ? "InternalServerError"
                                                      : "InvalidRequest";
  return {{"error", {{"code", name}, {"message", std::string(message)}}}};
}

HttpResponse PlainError(int code, std::string_view message) {
  return JsonResponse(code, ErrorBody(code, message));
}

// An error with the name of a field has it as its target.
HttpResponse Error(const CallEnd& end) {
  absl::Status status = InWordsOf(kApi, end.status);
  if (FieldOf(status) == "header.file_name") status = WithField(status, kDocument);
  const int code = HttpCodeOf(status);
  Json body = ErrorBody(code, {status.message().data(), status.message().size()});
  if (const std::string field = FieldOf(status); !field.empty()) body["error"]["target"] = field;
  return WithHeaders(JsonResponse(code, body), end);
}

absl::Status ReadQuery(const absl::StatusOr<CompatFields>& query, v1::DocumentHeader* header) {
  RETURN_IF_ERROR(query.status());
  ASSIGN_OR_RETURN(const std::string version, query->Text("api-version"));
  if (!absl::c_linear_search(kVersions, version)) {
    return InvalidField("api-version", "is neither 2024-05-01 nor 2026-03-01");
  }
  ASSIGN_OR_RETURN(const std::string category, query->Text("category", "general"));
  if (category != "general") return InvalidField("category", "is not supported");
  ASSIGN_OR_RETURN(*header->mutable_request(), ReadLanguages(kApi, *query));
  return absl::OkStatus();
}

void Translate(const ApiContext& context, HttpRequest http, std::shared_ptr<HttpAnswer> answer) {
  const auto query = std::make_shared<absl::StatusOr<CompatFields>>(CompatFields::ReadQuery(http));
  UseKeyOfQuery(kApi, &http);
  const auto read = [query](const DocumentForm& form, v1::DocumentHeader* header) {
    for (const auto& [name, value] : form.fields) {
      return InvalidField(name, name == "glossary" ? "is not supported: want a file alone"
                                                   : "is not a field of this form");
    }
    return ReadQuery(*query, header);
  };
  TranslateFileOverHttp(context, std::move(http), std::move(answer),
                        {.api = kApi.name, .read = FileOfForm(kDocument, read), .error = Error});
}

}  // namespace

void AddRoutes(const ApiContext& context, HttpRouter* router) {
  AddFileRoute(context, kApi, "/translator/document:translate", {.file_field = kDocument},
               Translate, PlainError, router);
}

}  // namespace dragoman::azure_documents
