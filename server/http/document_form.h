// Bodies with files, and forms with one.
//
// A body that is a file is not kept in memory: the route receives it into a spool, and a form is
// taken apart while it arrives.  A caller who shows a token in a header is judged before the body
// is read; one who has it in a field of the form, when that field was read.  Whoever is refused is
// answered at once: the rest of the body is not read.

#ifndef DRAGOMAN_SERVER_HTTP_DOCUMENT_FORM_H_
#define DRAGOMAN_SERVER_HTTP_DOCUMENT_FORM_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/not_copyable.h"
#include "server/api/document_desk.h"
#include "server/base/spool.h"
#include "server/http/api_context.h"
#include "server/http/multipart.h"
#include "server/http/router.h"

namespace dragoman {

// A form with one file.
struct DocumentForm {
  HttpHeaders fields;     // names and values
  std::string file_name;  // "": the form did not say
  std::shared_ptr<Spool> file;

  // The value of a field; "" if it is not there.
  std::string Field(std::string_view name) const;
};

// How the callers of an API send files.
struct UploadKind {
  const char* file_field = "file";  // of the form; null: the body is the file itself
  // Makes the token in another header, or in the query, the bearer token; may be null.
  std::function<void(HttpRequest* http)> use_key = nullptr;
  const char* key_field = "";                // the field of the form that may have the token
  const char* method = "TranslateDocument";  // that the caller needs the right to
};

// A body on its way.  Used by one thread at a time.
class DocumentUpload : private NotCopyable {
 public:
  // `head` is the request before its body.
  DocumentUpload(const ApiContext& context, UploadKind kind, HttpRequest head);

  // Takes more of the body.  After an error it takes nothing more.
  void Add(std::string_view bytes);
  // Why no more is wanted; OK as long as it is.
  const absl::Status& refusal() const { return refusal_; }

  // More for the file, within what the desk has for the caller.
  absl::StatusOr<std::shared_ptr<Spool>> NewSpool(size_t expected) const {
    return context_.parts->documents->NewSpool(holder_, expected);
  }
  absl::StatusOr<Share> TakeMemory(size_t bytes) const {
    return context_.parts->documents->TakeMemory(holder_, bytes);
  }

  // What has come, once, or what is wrong with it.
  absl::StatusOr<DocumentForm> Take();

 private:
  absl::Status Begin(HttpRequest head);
  absl::Status Judge();
  absl::Status BeginPart(FormPart part);
  absl::Status AddValue(std::string_view piece);
  absl::Status EndPart();
  absl::Status Count(size_t bytes);

  const ApiContext context_;
  const UploadKind kind_;
  absl::Status refusal_;
  Caller caller_;
  bool known_ = false;                     // the caller was judged
  std::string holder_;                     // of the file
  std::optional<MultipartReader> reader_;  // of a form
  DocumentForm form_;
  bool in_file_ = false;   // the part that is being read
  size_t form_bytes_ = 0;  // of the fields
  Share form_memory_;      // for them
};

// What the body of a request was; `file_field` is missing if there was none.
absl::StatusOr<DocumentForm> TakeDocumentForm(const HttpRequest& http, const char* file_field);

// Makes a route receive files: forms with one unless the kind has no field for it.
void ReceiveFiles(const ApiContext& context, const UploadKind& kind, HttpRoute* route);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_DOCUMENT_FORM_H_
