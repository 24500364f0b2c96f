#include "server/http/document_form.h"

#include <utility>

#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "server/base/errors.h"

namespace dragoman {
namespace {

// The form around a file, and its other fields.
constexpr size_t kFormBytes = 1 << 20;
// The fields in front of the token.
constexpr size_t kUnknownFormBytes = 64 << 10;

}  // namespace

std::string DocumentForm::Field(std::string_view name) const {
  for (const auto& [field, value] : fields) {
    if (field == name) return value;
  }
  return "";
}

DocumentUpload::DocumentUpload(const ApiContext& context, UploadKind kind, HttpRequest head)
    : context_(context), kind_(std::move(kind)) {
  refusal_ = Begin(std::move(head));
}

absl::Status DocumentUpload::Begin(HttpRequest head) {
  RETURN_IF_ERROR(context_.loaded());
  if (kind_.use_key != nullptr) kind_.use_key(&head);
  caller_ = CallerOf(head, kHttpApi);
  holder_ = HolderOf("", caller_.peer);
  const bool waits_for_key = *kind_.key_field != '\0' && caller_.token.empty() &&
                             context_.parts->principals->wants_tokens();
  if (!waits_for_key) RETURN_IF_ERROR(Judge());
  if (kind_.file_field == nullptr) {
    ASSIGN_OR_RETURN(form_.file, NewSpool(0));
    return absl::OkStatus();
  }
  reader_.emplace(head.Header("content-type"),
                  FormEvents{.begin = [this](FormPart part) { return BeginPart(std::move(part)); },
                             .value = [this](std::string_view piece) { return AddValue(piece); },
                             .end = [this] { return EndPart(); }});
  return absl::OkStatus();
}

// Whether the caller may send a file.
absl::Status DocumentUpload::Judge() {
  ASSIGN_OR_RETURN(const Permit permit, context_.parts->principals->Identify(caller_));
  RETURN_IF_ERROR(permit.MayCall(kind_.method));
  holder_ = HolderOf(permit.principal(), caller_.peer);
  known_ = true;
  return absl::OkStatus();
}

void DocumentUpload::Add(std::string_view bytes) {
  if (!refusal_.ok()) return;
  refusal_ = reader_.has_value() ? reader_->Add(bytes) : form_.file->Append(bytes);
}

absl::Status DocumentUpload::BeginPart(FormPart part) {
  in_file_ = part.name == kind_.file_field;
  if (!in_file_) {
    if (!IsValidUtf8(part.name)) return absl::InvalidArgumentError("a name is not valid UTF-8");
    const size_t bytes = sizeof(form_.fields[0]) + part.name.size();
    form_.fields.emplace_back(std::move(part.name), "");
    return Count(bytes);
  }
  if (form_.file != nullptr) return InvalidField(kind_.file_field, "is there twice");
  form_.file_name = part.file_name.value_or("");
  if (!IsValidUtf8(form_.file_name)) {
    return InvalidField(kind_.file_field, "has no name in UTF-8");
  }
  ASSIGN_OR_RETURN(form_.file, NewSpool(0));
  return absl::OkStatus();
}

absl::Status DocumentUpload::AddValue(std::string_view piece) {
  if (in_file_) {
    const size_t size = form_.file->size() + piece.size(), most = context_.max_document_bytes;
    return size > most ? MessageTooLarge(size, most) : form_.file->Append(piece);
  }
  form_.fields.back().second += piece;
  return Count(piece.size());
}

absl::Status DocumentUpload::EndPart() {
  if (in_file_) return absl::OkStatus();
  const auto& [name, value] = form_.fields.back();
  if (!IsValidUtf8(value)) return InvalidField(name, "is not valid UTF-8");
  if (known_ || name != kind_.key_field) return absl::OkStatus();
  caller_.token = value;
  return Judge();
}

absl::Status DocumentUpload::Count(size_t bytes) {
  form_bytes_ += bytes;
  if (form_bytes_ > kFormBytes) return InvalidField(form_.fields.back().first, "is too long");
  if (!known_ && form_bytes_ > kUnknownFormBytes) {
    return InvalidField(kind_.key_field, "is missing among the first fields");
  }
  // Values and their list grow to twice as much while the old one is there.
  if (const size_t memory = 3 * form_bytes_; memory > form_memory_.amount()) {
    ASSIGN_OR_RETURN(form_memory_,
                     context_.parts->requests->Take(holder_, memory + kUnknownFormBytes));
  }
  return absl::OkStatus();
}

absl::StatusOr<DocumentForm> DocumentUpload::Take() {
  if (!refusal_.ok()) return refusal_;
  if (reader_.has_value()) {
    RETURN_IF_ERROR(reader_->End());
    if (form_.file == nullptr) return InvalidField(kind_.file_field, "is missing");
  }
  return std::move(form_);
}

absl::StatusOr<DocumentForm> TakeDocumentForm(const HttpRequest& http, const char* file_field) {
  if (http.upload == nullptr) return InvalidField(file_field, "is missing");
  return http.upload->Take();
}

void ReceiveFiles(const ApiContext& context, const UploadKind& kind, HttpRoute* route) {
  if (kind.file_field != nullptr) route->body_types = {kMultipart};
  route->max_file_bytes = context.max_document_bytes + kFormBytes;
  route->receive = [context, kind](const HttpRequest& head) {
    return std::make_shared<DocumentUpload>(context, kind, head);
  };
}

}  // namespace dragoman
