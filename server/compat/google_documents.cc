// The files of Google's Cloud Translation API, advanced edition
// (https://cloud.google.com/translate/docs/reference/rest/v3/projects.locations/translateDocument):
// in base64, and answered at once.
//
//   curl localhost:9464/v3/projects/any/locations/any:translateDocument
//     -H 'Content-Type: application/json'
//     -d '{"documentInputConfig": {"content": "R29vZCBtb3JuaW5nLg==", "mimeType": "text/plain"},
//          "targetLanguageCode": "de"}'
//   {"documentTranslation": {"mimeType": "text/plain", "detectedLanguageCode": "en",
//                            "byteStreamOutputs": ["R3V0ZW4gTW9yZ2VuLg=="]}}

#include <memory>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/base/field_error.h"
#include "engine/base/json.h"
#include "engine/base/mapped_file.h"
#include "engine/base/status.h"
#include "server/compat/fields.h"
#include "server/compat/google.h"
#include "server/compat/stored_files.h"

namespace dragoman::google_documents {
namespace {

constexpr char kInput[] = "documentInputConfig";

// A string of an object; "" if it is absent.
absl::StatusOr<std::string> TextOf(const nlohmann::json& object, const char* name,
                                   const std::string& path) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return "";
  if (!found->is_string()) return InvalidField(path + name, "is not a string");
  return found->get<std::string>();
}

absl::Status RefuseUnsupported(const nlohmann::json& body) {
  for (const char* name : {"glossaryConfig", "customizedAttribution"}) {
    if (body.contains(name)) return InvalidField(name, "is not supported");
  }
  const auto output = body.find("documentOutputConfig");
  if (output == body.end()) return absl::OkStatus();
  for (const char* name : {"gcsDestination", "mimeType"}) {
    if (output->contains(name)) {
      return InvalidField(absl::StrCat("documentOutputConfig.", name), "is not supported");
    }
  }
  return absl::OkStatus();
}

// The bytes of the file, and its format in the header.
absl::StatusOr<std::shared_ptr<Spool>> ReadInput(const nlohmann::json& body,
                                                 const DocumentUpload& upload,
                                                 v1::DocumentHeader* header) {
  const auto input = body.find(kInput);
  if (input == body.end() || !input->is_object()) return InvalidField(kInput, "is missing");
  const std::string path = absl::StrCat(kInput, ".");
  if (input->contains("gcsSource")) return InvalidField(path + "gcsSource", "is not supported");
  ASSIGN_OR_RETURN(const std::string type, TextOf(*input, "mimeType", path));
  if (type.empty()) return InvalidField(path + "mimeType", "is missing");
  header->set_format(type);
  const auto content = input->find("content");
  if (content == input->end() || !content->is_string()) {
    return InvalidField(path + "content", "is missing");
  }
  const auto& encoded = content->get_ref<const std::string&>();
  std::string bytes;
  if (!absl::Base64Unescape(encoded, &bytes) && !absl::WebSafeBase64Unescape(encoded, &bytes)) {
    return InvalidField(path + "content", "is not base64");
  }
  ASSIGN_OR_RETURN(std::shared_ptr<Spool> file, upload.NewSpool(bytes.size()));
  RETURN_IF_ERROR(file->Append(bytes));
  return file;
}

absl::StatusOr<std::shared_ptr<Spool>> Read(const HttpRequest& http, v1::DocumentHeader* header,
                                            google_translate::GoogleCall* call) {
  ASSIGN_OR_RETURN(const DocumentForm whole, TakeDocumentForm(http, kInput));
  ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file,
                   MappedFile::Open(whole.file->path()));
  const std::string_view bytes(reinterpret_cast<const char*>(file->bytes().data()),
                               file->bytes().size());
  constexpr size_t kCopies = 3;  // as JSON, its text, and what that is base64 of
  ASSIGN_OR_RETURN(const Share memory, http.upload->TakeMemory(kCopies * bytes.size()));
  ASSIGN_OR_RETURN(const nlohmann::json body, ParseJsonObject(bytes, "the body"));
  RETURN_IF_ERROR(RefuseUnsupported(body));
  ASSIGN_OR_RETURN(const std::string source, TextOf(body, google_translate::kAdvanced.source, ""));
  ASSIGN_OR_RETURN(const std::string target, TextOf(body, google_translate::kAdvanced.target, ""));
  if (target.empty()) return InvalidField(google_translate::kAdvanced.target, "is missing");
  call->detect = source.empty();
  ASSIGN_OR_RETURN(call->model, TextOf(body, "model", ""));
  *header->mutable_request() = NewTranslateRequest({}, source, target);
  return ReadInput(body, *http.upload, header);
}

FileAnswer Answer(const v1::DocumentReport& report, const google_translate::GoogleCall& call) {
  nlohmann::ordered_json translation = {{"mimeType", report.media_type()}};
  if (call.detect) translation["detectedLanguageCode"] = report.source_language();
  const std::string model =
      call.model.empty() ? "" : ",\"model\":" + WriteJson(nlohmann::json(call.model));
  std::string before = WriteJson(translation);
  before.back() = ',';
  FileAnswer answer = {
      .head = {.content_type = "application/json"},
      .before = absl::StrCat("{\"documentTranslation\":", before, "\"byteStreamOutputs\":[\""),
      .after = "\"]}" + model + "}"};
  if (!call.model.empty()) answer.head.headers.emplace_back(kIgnored, "model");
  return answer;
}

HttpResponse Error(const CallEnd& end) {
  absl::Status status = InWordsOf(google_translate::kAdvanced, end.status);
  if (FieldOf(status) == "header.format") {
    status = WithField(status, absl::StrCat(kInput, ".mimeType"));
  }
  return WithHeaders(google_translate::Error(status), end);
}

void Translate(const ApiContext& context, HttpRequest http, std::shared_ptr<HttpAnswer> answer) {
  UseKeyOfQuery(google_translate::kAdvanced, &http);
  const auto call = std::make_shared<google_translate::GoogleCall>();
  TranslateFileOverHttp(
      context, std::move(http), std::move(answer),
      {.api = google_translate::kAdvanced.name,
       .read = [call](const HttpRequest& request,
                      v1::DocumentHeader* header) { return Read(request, header, call.get()); },
       .error = Error,
       .answer = [call](const v1::DocumentReport& report) { return Answer(report, *call); }});
}

}  // namespace

void AddRoutes(const ApiContext& context, HttpRouter* router) {
  AddFileRoute(context, google_translate::kAdvanced, "/v3/projects/**:translateDocument",
               {.file_field = nullptr}, Translate, google_translate::PlainError, router);
}

}  // namespace dragoman::google_documents
