#include "server/http/document_form.h"

#include <utility>
#include <vector>

#include "engine/base/mapped_file.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "server/api/document_desk.h"
#include "server/http/multipart.h"

namespace dragoman {
namespace {

// The form around a file, and its other fields.
constexpr size_t kFormBytes = 1 << 20;

absl::Status CheckField(const FormPart& part) {
  if (!IsValidUtf8(part.name)) return absl::InvalidArgumentError("a name is not valid UTF-8");
  if (!IsValidUtf8(part.value)) return InvalidField(part.name, "is not valid UTF-8");
  return absl::OkStatus();
}

}  // namespace

std::string DocumentForm::Field(std::string_view name) const {
  for (const auto& [field, value] : fields) {
    if (field == name) return value;
  }
  return "";
}

absl::StatusOr<DocumentForm> ReadDocumentForm(const HttpRequest& http, const char* file_field) {
  if (http.file == nullptr) return InvalidField(file_field, "is missing");
  ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> body,
                   MappedFile::Open(http.file->path()));
  const std::string_view bytes(reinterpret_cast<const char*>(body->bytes().data()),
                               body->bytes().size());
  ASSIGN_OR_RETURN(const std::vector<FormPart> parts,
                   ReadMultipart(http.Header("content-type"), bytes));
  DocumentForm form;
  size_t form_bytes = 0;
  for (const FormPart& part : parts) {
    const bool is_file = part.name == file_field;
    if (is_file && form.file != nullptr) return InvalidField(file_field, "is there twice");
    if (is_file) {
      form.file_name = part.file_name.value_or("");
      if (!IsValidUtf8(form.file_name)) return InvalidField(file_field, "has no name in UTF-8");
      ASSIGN_OR_RETURN(form.file, Spool::New(0));
      RETURN_IF_ERROR(form.file->Append(part.value));
      continue;
    }
    RETURN_IF_ERROR(CheckField(part));
    form_bytes += part.value.size();
    if (form_bytes > kFormBytes) return InvalidField(part.name, "is too long");
    form.fields.emplace_back(part.name, part.value);
  }
  if (form.file == nullptr) return InvalidField(file_field, "is missing");
  return form;
}

void ReceiveFiles(const ApiContext& context, HttpRoute* route) {
  route->max_file_bytes = context.max_document_bytes + kFormBytes;
  route->receive = [context]() -> absl::StatusOr<std::shared_ptr<Spool>> {
    RETURN_IF_ERROR(context.loaded());
    return context.parts->documents->Receive();
  };
}

void ReceiveForms(const ApiContext& context, HttpRoute* route) {
  route->body_types = {kMultipart};
  ReceiveFiles(context, route);
}

void WithDocumentForm(
    const ApiContext& context, HttpRequest http, const char* file_field,
    std::function<void(const HttpRequest& http, absl::StatusOr<DocumentForm> form)> act) {
  context.parts->documents->Run(
      [request = std::make_shared<HttpRequest>(std::move(http)), file_field, act = std::move(act)] {
        absl::StatusOr<DocumentForm> form = ReadDocumentForm(*request, file_field);
        request->file = nullptr;
        act(*request, std::move(form));
      });
}

}  // namespace dragoman
