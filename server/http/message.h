// An HTTP request and its answer, for code that knows nothing about sockets: the handlers of the
// pages and of the API.
//
//   void Hello(HttpRequest request, const std::shared_ptr<HttpAnswer>& answer) {
//     answer->Send({.content_type = "text/plain", .body = "hello\n"});
//   }
//
// A handler is called on a thread that serves many connections: it must return soon, and may keep
// the answer and use it later, on any thread.

#ifndef DRAGOMAN_SERVER_HTTP_MESSAGE_H_
#define DRAGOMAN_SERVER_HTTP_MESSAGE_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace dragoman {

class DocumentUpload;

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method;   // "GET"; handlers see HEAD as GET
  std::string path;     // without %-escapes, UTF-8: "/v1/models/en-de"
  std::string query;    // after the question mark, as sent
  std::string route;    // the path of the route that it matched: "/v1/models/**"
  HttpHeaders headers;  // names in lower case; repeated headers are listed repeatedly
  std::string body;
  // The body instead, on a route that receives files; if it was refused, not all of it was read.
  std::shared_ptr<DocumentUpload> upload;
  std::string peer;                                              // the address of the client
  bool encrypted = false;                                        // whether it came over TLS
  absl::StatusOr<std::string> certificate_name = std::string();  // as Caller's

  // The value of a header, given its name in lower case; empty if it was not sent.
  std::string_view Header(std::string_view name) const;
};

struct HttpResponse {
  int code = 200;
  std::string content_type;  // empty: no body
  std::string body;
  HttpHeaders headers;  // additional ones; names and values contain no line breaks
  bool close = false;   // close the connection afterwards
  std::shared_ptr<const void> held = nullptr;  // let go when the answer was sent or dropped
};

// The answer to one request: either Send, or Begin, any number of Writes, and End.  If the object
// is destroyed without any of these, the client gets an internal error.  Thread-safe, but the calls
// must come in this order.
class HttpAnswer {
 public:
  virtual ~HttpAnswer() = default;

  virtual void Send(HttpResponse response) = 0;

  // Starts an answer of unknown length with its code, headers and the first part of its body.
  virtual void Begin(HttpResponse head) = 0;
  // Sends more of the body.  Then, or if the client has gone, `sent` is called once on the
  // connection's thread; who writes without waiting for that makes parts pile up.
  virtual void Write(std::string part, std::function<void()> sent) = 0;
  virtual void End() = 0;

  // `gone` is called at most once, if the client goes away before the answer has ended, or at once
  // if it is gone already.  On the connection's thread.
  virtual void OnGone(std::function<void()> gone) = 0;
};

using HttpHandler = std::function<void(HttpRequest request, std::shared_ptr<HttpAnswer> answer)>;

// A handler that sends what `answer` returns.
HttpHandler AnswerAtOnce(std::function<HttpResponse(const HttpRequest& request)> answer);

// Decodes %-escapes; false if one is malformed or stands for a zero byte.
bool UnescapePercent(std::string_view text, bool plus_is_space, std::string* out);

// The names and values of a query or a form, `a=1&b=2`.  False if an escape is malformed.
bool ParseForm(std::string_view text, HttpHeaders* fields);

// "application/json" of "Application/JSON; charset=utf-8".
std::string MediaType(std::string_view content_type);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_MESSAGE_H_
