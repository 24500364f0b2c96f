// Files for other APIs: their routes, and uploads that are answered with a name, at which the
// translation is fetched later (document_store.h).

#ifndef DRAGOMAN_SERVER_COMPAT_STORED_FILES_H_
#define DRAGOMAN_SERVER_COMPAT_STORED_FILES_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/api/document_store.h"
#include "server/compat/compat.h"
#include "server/http/document_api.h"

namespace dragoman {

// How an API reads an upload and answers it.
struct UploadFormat {
  // Fills the header, which has the name of the file already, from the fields of the form.
  absl::Status (*read)(const CompatFields& fields, v1::DocumentHeader* header);
  HttpResponse (*error)(const absl::Status& status);
  using Told = std::function<void(const HttpRequest& http, const StoredDocument& document,
                                  const std::shared_ptr<HttpAnswer>& answer)>;
  // Called when the translation has begun, and may keep the answer until it has ended.
  Told begun;
  // Called when it has ended; null: nobody waits for that.
  Told ended;
};

// Adds a route for forms with a file, or, if the kind has no field for it, for JSON with one in
// base64.  Callers have their key in a header or in the query.  `api` must outlive the route.
void AddFileRoute(const ApiContext& context, const CompatApi& api, const char* path,
                  UploadKind kind, CompatHandler* handle, HttpErrorBody error, HttpRouter* router);

// Begins the translation of the file that a form has, in its field "file".  `api` must outlive the
// call.
void StoreUpload(const ApiContext& context, const CompatApi& api, HttpRequest http,
                 std::shared_ptr<HttpAnswer> answer, const UploadFormat& format);

// Answers what asks the store, on a thread that may wait, unless the sender of `http` waits no
// more.  The other one is such a handler.
void WithStore(const ApiContext& context, const HttpRequest& http,
               std::shared_ptr<HttpAnswer> answer,
               HttpResponse (*error)(const absl::Status& status), std::function<void()> work);
HttpHandler WithStore(const ApiContext& context, HttpResponse (*error)(const absl::Status& status),
                      HttpHandler handler);

// Sends the translation of a document, after which it is gone.  REQUIRES: it has ended well; the
// thread may wait.
void SendStored(const ApiContext& context, const StoredDocument& document,
                const std::shared_ptr<HttpAnswer>& answer);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_COMPAT_STORED_FILES_H_
