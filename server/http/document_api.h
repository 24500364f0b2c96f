// The translation of files over HTTP:
//
//   POST /v1/translate_file      a form with a file; answers the translated file
//
// and what other APIs with forms and files need for the same.
//
// A body that is a file is not kept in memory: the route receives it into a spool (router.h), and
// the form is taken apart on a thread of the desk (document_desk.h).

#ifndef DRAGOMAN_SERVER_HTTP_DOCUMENT_API_H_
#define DRAGOMAN_SERVER_HTTP_DOCUMENT_API_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/api/document_exchange.h"
#include "server/http/door.h"
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

// The form in the body of a request; `file_field` is the name of the file in it.  Takes as long as
// copying the file.
absl::StatusOr<DocumentForm> ReadDocumentForm(const HttpRequest& http, const char* file_field);

// Makes a route receive forms with files.
void ReceiveForms(const HttpDoor& door, HttpRoute* route);

// Calls `act` with the form on a thread of the desk.  REQUIRES: door.loaded() is OK.
void WithDocumentForm(
    const HttpDoor& door, HttpRequest http, const char* file_field,
    std::function<void(const HttpRequest& http, absl::StatusOr<DocumentForm> form)> act);

// The header of an answer that a browser saves as a file of this name.
std::pair<std::string, std::string> SaveAs(const std::string& file_name);

// Sends a file as the body of an answer, without keeping it in memory; `sent` is called when all of
// it was sent, unless the client goes away before.
void SendSpooled(const std::shared_ptr<HttpAnswer>& answer, HttpResponse head,
                 std::shared_ptr<const Spool> file, std::function<void()> sent);

// Translates the form's file for the sender of `http`, who may go away, and answers with the
// result, or with the result of `error`.  `read` fills the header from the form.
void TranslateFileOverHttp(
    const HttpDoor& door, const char* door_name, HttpRequest http,
    std::shared_ptr<HttpAnswer> answer, const char* file_field,
    std::function<absl::Status(const DocumentForm& form, v1::DocumentHeader* header)> read,
    std::function<HttpResponse(const CallEnd& end)> error);

void AddDocumentApi(const HttpDoor& door, HttpRouter* router);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_DOCUMENT_API_H_
