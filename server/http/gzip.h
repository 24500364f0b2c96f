// Compression of what the port sends (RFC 1952), for the pages that are large and regular.

#ifndef DRAGOMAN_SERVER_HTTP_GZIP_H_
#define DRAGOMAN_SERVER_HTTP_GZIP_H_

#include <string>
#include <string_view>

namespace dragoman {

// Whether a client with this Accept-Encoding takes gzip.
bool AcceptsGzip(std::string_view accept_encoding);

std::string Gzip(std::string_view text);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_GZIP_H_
