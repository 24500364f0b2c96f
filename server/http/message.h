// A request and its answer over HTTP, as those see them who know nothing of sockets: the handlers
// of the pages and of the API.
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

namespace dragoman {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method;   // "GET"; HEAD comes to handlers as GET
  std::string path;     // without its %-escapes, UTF-8: "/v1/models/en-de"
  std::string query;    // what follows the question mark, as it was sent
  HttpHeaders headers;  // names in lower case; what was sent twice stands there twice
  std::string body;
  bool encrypted = false;        // it came over TLS
  std::string certificate_name;  // the identity in a client certificate that TLS has verified

  // The value of a header, named in lower case; empty if it was not sent.
  std::string_view Header(std::string_view name) const;
};

struct HttpResponse {
  int code = 200;
  std::string content_type;  // empty: there is no body
  std::string body;
  HttpHeaders headers;  // others; neither names nor values have line breaks
  bool close = false;   // hang up afterwards
};

// Where one request is answered: by Send, or by Begin, any number of Writes and End.  Without any
// of these the client is told of an internal error when the object is destroyed.  Thread-safe, but
// the calls must come in this order.
class HttpAnswer {
 public:
  virtual ~HttpAnswer() = default;

  virtual void Send(HttpResponse response) = 0;

  // The code and the headers of an answer whose length is not known; its body is sent, too.
  virtual void Begin(HttpResponse head) = 0;
  // More of the body.  False if it is of no use to go on: nobody reads it any more.
  virtual bool Write(std::string part) = 0;
  virtual void End() = 0;

  // `gone` is called at most once, if the client goes away before the answer has ended; at once if
  // it has gone already.  On the connection's thread.
  virtual void OnGone(std::function<void()> gone) = 0;
};

using HttpHandler = std::function<void(HttpRequest request, std::shared_ptr<HttpAnswer> answer)>;

// Text without its %-escapes; false if one is broken or stands for a zero byte.
bool UnescapePercent(std::string_view text, bool plus_is_space, std::string* out);

// The names and values of a query or of a form, `a=1&b=2`.  False if an escape is broken.
bool ParseForm(std::string_view text, HttpHeaders* fields);

// "application/json" of "Application/JSON; charset=utf-8".
std::string MediaType(std::string_view content_type);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_MESSAGE_H_
