// Bodies with files, and forms with one.
//
// A body that is a file is not kept in memory: the route receives it into a spool (router.h), and
// the form is taken apart on a thread of the desk (document_desk.h).

#ifndef DRAGOMAN_SERVER_HTTP_DOCUMENT_FORM_H_
#define DRAGOMAN_SERVER_HTTP_DOCUMENT_FORM_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/base/spool.h"
#include "server/http/api_context.h"
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

// Makes a route receive files, or forms with files.
void ReceiveFiles(const ApiContext& context, HttpRoute* route);
void ReceiveForms(const ApiContext& context, HttpRoute* route);

// Calls `act` with the form on a thread of the desk.  REQUIRES: context.loaded() is OK.
void WithDocumentForm(
    const ApiContext& context, HttpRequest http, const char* file_field,
    std::function<void(const HttpRequest& http, absl::StatusOr<DocumentForm> form)> act);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_DOCUMENT_FORM_H_
