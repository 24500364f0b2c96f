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
//
// With a glossary, the file is the glossaryDocumentTranslation.

#include <memory>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/base/field_error.h"
#include "engine/base/json.h"
#include "engine/base/mapped_file.h"
#include "engine/base/pump.h"
#include "engine/base/status.h"
#include "google/cloud/translate/v3/translation_service.pb.h"
#include "server/api/document_exchange.h"
#include "server/base/errors.h"
#include "server/compat/fields.h"
#include "server/compat/google.h"
#include "server/compat/rpc.h"
#include "server/compat/stored_files.h"
#include "server/http/document_api.h"
#include "server/http/multipart.h"

namespace dragoman::google_documents {
namespace {

namespace messages = google::cloud::translation::v3;

constexpr char kInput[] = "documentInputConfig", kContent[] = "documentInputConfig.content";

absl::Status RefuseUnsupported(const CompatFields& body) {
  RETURN_IF_ERROR(body.Refuse({"customizedAttribution"}));
  ASSIGN_OR_RETURN(const CompatFields output, body.Object("documentOutputConfig"));
  for (const char* name : {"gcsDestination", "mimeType"}) {
    if (output.Has(name)) {
      return InvalidField(absl::StrCat("documentOutputConfig.", name), "is not supported");
    }
  }
  return absl::OkStatus();
}

// What the body says besides the file itself.
absl::Status ReadHeader(const CompatFields& body, v1::DocumentHeader* header,
                        google_translate::GoogleCall* call) {
  RETURN_IF_ERROR(RefuseUnsupported(body));
  ASSIGN_OR_RETURN(*header->mutable_request(), ReadLanguages(google_translate::kAdvanced, body));
  RETURN_IF_ERROR(google_translate::ReadCall(body, call, header->mutable_request()));
  if (!body.Has(kInput)) return InvalidField(kInput, "is missing");
  ASSIGN_OR_RETURN(const CompatFields input, body.Object(kInput));
  const std::string path = absl::StrCat(kInput, ".");
  if (input.Has("gcsSource")) return InvalidField(path + "gcsSource", "is not supported");
  ASSIGN_OR_RETURN(const std::string type, input.Text("mimeType"));
  if (type.empty()) return InvalidField(path + "mimeType", "is missing");
  header->set_format(type);
  if (!input.Has("content")) return InvalidField(kContent, "is missing");
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Spool>> Read(const HttpRequest& http, v1::DocumentHeader* header,
                                            google_translate::GoogleCall* call) {
  ASSIGN_OR_RETURN(const DocumentForm whole, TakeDocumentForm(http, kInput));
  ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file,
                   MappedFile::Open(whole.file->path()));
  const std::string_view bytes = file->text();
  constexpr size_t kCopies = 3;  // as JSON, its text, and what that is base64 of
  ASSIGN_OR_RETURN(const Share memory, http.upload->TakeMemory(kCopies * bytes.size()));
  // Base64 has none of these, and each other value takes far more memory than its bytes.
  const auto parts =
      absl::c_count_if(bytes, [](char c) { return c == ',' || c == ':' || c == '[' || c == '{'; });
  if (parts > kMaxParts)
    return InvalidArgumentError("the body has more than ", kMaxParts, " parts");
  ASSIGN_OR_RETURN(nlohmann::json body, ParseJsonObject(bytes, "the body"));
  std::string encoded, decoded;
  if (const nlohmann::json::json_pointer at("/documentInputConfig/content"); body.contains(at)) {
    if (!body[at].is_string()) return InvalidField(kContent, "is missing");
    encoded.swap(body[at].get_ref<std::string&>());
  }
  RETURN_IF_ERROR(ReadHeader(CompatFields::Of(std::move(body)), header, call));
  if (!absl::Base64Unescape(encoded, &decoded) && !absl::WebSafeBase64Unescape(encoded, &decoded)) {
    return InvalidField(kContent, "is not base64");
  }
  ASSIGN_OR_RETURN(std::shared_ptr<Spool> spool, http.upload->NewSpool(decoded.size()));
  RETURN_IF_ERROR(spool->Append(decoded));
  return spool;
}

FileAnswer Answer(const v1::DocumentReport& report, const google_translate::GoogleCall& call) {
  nlohmann::ordered_json translation = {{"mimeType", report.media_type()}};
  if (call.detect) translation["detectedLanguageCode"] = report.source_language();
  nlohmann::ordered_json rest;
  if (!call.model.empty()) rest["model"] = call.model;
  if (!call.glossary.empty()) rest["glossaryConfig"] = {{"glossary", call.glossary}};
  std::string before = WriteJson(translation), after = rest.empty() ? "}" : WriteJson(rest);
  before.back() = ',';
  if (!rest.empty()) after.front() = ',';
  FileAnswer answer = {
      .head = {.content_type = "application/json",
               .body = absl::StrCat(call.glossary.empty() ? "{\"documentTranslation\":"
                                                          : "{\"glossaryDocumentTranslation\":",
                                    before, "\"byteStreamOutputs\":[\"")},
      .after = "\"]}" + after};
  if (!call.model.empty()) answer.head.headers.emplace_back(kIgnored, "model");
  return answer;
}

absl::Status InGooglesWords(const absl::Status& status) {
  if (FieldOf(status) == "header.format") {
    return WithField(status, absl::StrCat(kInput, ".mimeType"));
  }
  return InWordsOf(google_translate::kAdvanced, status);
}

HttpResponse Error(const CallEnd& end) {
  return WithHeaders(google_translate::Error(InGooglesWords(end.status)), end);
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

// A translation over gRPC, where the file and its translation are in one message each.
class MessageFile final : public std::enable_shared_from_this<MessageFile> {
 public:
  MessageFile(const ServerParts* parts, Caller caller, UnaryExchange::Done done)
      : parts_(parts), peer_(caller.peer), caller_(std::move(caller)), done_(std::move(done)) {}

  void Start(UnaryExchange::Parse parse) {
    self_ = shared_from_this();
    exchange_ =
        std::make_shared<DocumentExchange>(parts_, std::move(caller_), [weak = weak_from_this()] {
          if (const auto call = weak.lock()) call->OnEvent();
        });
    exchange_->Start();
    if (const std::optional<std::string> principal = exchange_->principal()) {
      holder_ = HolderOf(*principal, peer_);
      auto request = Parsed<messages::TranslateDocumentRequest>(parse);
      if (request.ok()) {
        exchange_->Work([self = self_, request = *std::move(request)](auto* header) mutable {
          return self->Read(std::move(request), header);
        });
      } else {
        exchange_->NoMore(request.status());
      }
    }
    OnEvent();
  }
  void Cancel() { exchange_->Cancel(); }

 private:
  absl::StatusOr<std::shared_ptr<Spool>> Read(messages::TranslateDocumentRequest request,
                                              v1::DocumentHeader* header) {
    std::string file;
    if (request.document_input_config().has_content()) {
      file.swap(*request.mutable_document_input_config()->mutable_content());
    }
    ASSIGN_OR_RETURN(const CompatFields body, FieldsOf(request));
    RETURN_IF_ERROR(ReadHeader(body, header, &call_));
    const size_t most = parts_->documents->limits().max_bytes;
    if (file.size() > most) return MessageTooLarge(file.size(), most);
    ASSIGN_OR_RETURN(std::shared_ptr<Spool> spool,
                     parts_->documents->NewSpool(holder_, file.size()));
    RETURN_IF_ERROR(spool->Append(file));
    return spool;
  }

  void OnEvent() {
    const auto self = shared_from_this();
    pump_.Run([this] { return Step(); });
  }

  bool Step() {
    if (ended_) return false;
    DocumentEvent event = exchange_->Next();
    ended_ = event.end.has_value();
    if (ended_) End(*std::move(event.end));
    if (!event.message.has_value()) return false;
    if (!event.message->has_progress() && file_ == nullptr) file_ = exchange_->TakeOutput();
    return true;
  }

  void End(CallEnd end) {
    const auto self = std::move(self_);
    messages::TranslateDocumentResponse response;
    Share memory;
    end.status = InGooglesWords(end.status);
    if (end.status.ok()) end.status = Write(&memory, &response);
    done_(end, end.status.ok() ? &response : nullptr);
  }

  absl::Status Write(Share* memory, messages::TranslateDocumentResponse* response) {
    constexpr size_t kCopies = 2;  // in the message, and serialized
    ASSIGN_OR_RETURN(*memory, parts_->documents->TakeMemory(holder_, kCopies * file_->size()));
    messages::DocumentTranslation& translation =
        call_.glossary.empty() ? *response->mutable_document_translation()
                               : *response->mutable_glossary_document_translation();
    if (!call_.glossary.empty()) response->mutable_glossary_config()->set_glossary(call_.glossary);
    ASSIGN_OR_RETURN(*translation.add_byte_stream_outputs(), file_->Read(0, file_->size()));
    translation.set_mime_type(exchange_->report().media_type());
    if (call_.detect) translation.set_detected_language_code(exchange_->report().source_language());
    response->set_model(call_.model);
    return absl::OkStatus();
  }

  const ServerParts* const parts_;
  const std::string peer_;
  Caller caller_;  // until Start
  const UnaryExchange::Done done_;
  std::string holder_;
  google_translate::GoogleCall call_;
  std::shared_ptr<DocumentExchange> exchange_;
  std::shared_ptr<MessageFile> self_;  // until its end

  Pump pump_;
  bool ended_ = false;           // like the next, the pump's
  std::shared_ptr<Spool> file_;  // the translation
};

// Its call lives on until nothing calls it any more.
class FileExchange final : public UnaryExchange {
 public:
  explicit FileExchange(std::shared_ptr<MessageFile> call) : call_(std::move(call)) {}
  void Start(Parse parse) override { call_->Start(parse); }
  void Cancel() override { call_->Cancel(); }

 private:
  const std::shared_ptr<MessageFile> call_;
};

}  // namespace

std::unique_ptr<UnaryExchange> NewRpc(const ServerParts* parts, const char*, Caller caller,
                                      UnaryExchange::Done done) {
  return std::make_unique<FileExchange>(
      std::make_shared<MessageFile>(parts, std::move(caller), std::move(done)));
}

void AddRoutes(const ApiContext& context, HttpRouter* router) {
  AddFileRoute(context, google_translate::kAdvanced, "/v3/projects/**:translateDocument",
               {.file_field = nullptr}, Translate, google_translate::PlainError, router);
}

}  // namespace dragoman::google_documents
