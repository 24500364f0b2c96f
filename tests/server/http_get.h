// Just enough of an HTTP client.

#ifndef DRAGOMAN_TESTS_SERVER_HTTP_GET_H_
#define DRAGOMAN_TESTS_SERVER_HTTP_GET_H_

#include <string>

namespace dragoman {

struct HttpAnswer {
  int code = 0;  // 0: no answer
  std::string headers;
  std::string body;
};

// `address` is IPV4:PORT.
HttpAnswer HttpGet(const std::string& address, const std::string& path,
                   const std::string& method = "GET");

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_SERVER_HTTP_GET_H_
