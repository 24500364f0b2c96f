// Parses the head of an HTTP request: the request line and the headers.

#ifndef DRAGOMAN_SERVER_HTTP_REQUEST_HEAD_H_
#define DRAGOMAN_SERVER_HTTP_REQUEST_HEAD_H_

#include <boost/beast/core/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>

#include "server/http/message.h"

namespace dragoman {

using HttpMessage = boost::beast::http::request<boost::beast::http::string_body>;

// Sets the method, the path, the query and the headers (with names in lower case) of *request.
// Returns a refusal if the request is malformed, asks for what this port cannot do, or is one that
// an intermediary might have understood differently.
std::optional<HttpResponse> ReadRequestHead(const HttpMessage& message, HttpRequest* request);

// The response to a request that cannot be read; code 0 if nobody is left to receive it.
HttpResponse ExplainReadError(const boost::system::error_code& error);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_REQUEST_HEAD_H_
