// Writes the head of an HTTP response: its status line and its headers.

#ifndef DRAGOMAN_SERVER_HTTP_RESPONSE_HEAD_H_
#define DRAGOMAN_SERVER_HTTP_RESPONSE_HEAD_H_

#include <cstddef>
#include <optional>
#include <string>

#include "server/http/message.h"

namespace dragoman {

// How the end of a response is marked, and what follows it on its connection.
struct ResponseFraming {
  std::optional<size_t> length;  // of the body, if it is known
  bool chunked = false;
  bool keep_alive = false;
  bool old = false;  // HTTP/1.0
};

// The head with the empty line that ends it.  `cors` are headers for browsers.
std::string ResponseHead(const HttpResponse& response, const HttpHeaders& cors,
                         const ResponseFraming& framing);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_RESPONSE_HEAD_H_
