// The translation of files over HTTP:
//
//   POST /v1/translate_file      a form with a file; answers the translated file
//
// and what other APIs need for the same.

#ifndef DRAGOMAN_SERVER_HTTP_DOCUMENT_API_H_
#define DRAGOMAN_SERVER_HTTP_DOCUMENT_API_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/api/document_exchange.h"
#include "server/http/api_context.h"
#include "server/http/document_form.h"
#include "server/http/router.h"

namespace dragoman {

// The header of an answer that a browser saves as a file of this name.
std::pair<std::string, std::string> SaveAs(const std::string& file_name);

// Sends a file as the body of an answer, without keeping it in memory; `sent` is called when all of
// it was sent, unless the client goes away before.
void SendSpooled(const std::shared_ptr<HttpAnswer>& answer, HttpResponse head,
                 std::shared_ptr<const Spool> file, std::function<void()> sent);

// An answer that has a translated file in it, in base64.
struct FileAnswer {
  HttpResponse head;  // with what stands in front of the file
  std::string after;  // what stands behind it
};

// How an API reads a file and answers with its translation.
struct FileCall {
  const char* api;      // its name in the log
  bool events = false;  // whether the answer is a stream of events if the sender accepts one
  // Fills the header and returns the file.  Called on a thread that may wait.
  std::function<absl::StatusOr<std::shared_ptr<Spool>>(const HttpRequest& http,
                                                       v1::DocumentHeader* header)>
      read;
  std::function<HttpResponse(const CallEnd& end)> error;
  // Null: the file itself, to be saved.
  std::function<FileAnswer(const v1::DocumentReport& report)> answer = nullptr;
};

// A FileCall::read for forms: `read` fills the header, which has the file's name already.
std::function<absl::StatusOr<std::shared_ptr<Spool>>(const HttpRequest& http,
                                                     v1::DocumentHeader* header)>
FileOfForm(const char* file_field,
           std::function<absl::Status(const DocumentForm& form, v1::DocumentHeader* header)> read);

// Translates the file for the sender of `http`, who may go away, and answers.
void TranslateFileOverHttp(const ApiContext& context, HttpRequest http,
                           std::shared_ptr<HttpAnswer> answer, const FileCall& file_call);

void AddDocumentApi(const ApiContext& context, HttpRouter* router);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_DOCUMENT_API_H_
