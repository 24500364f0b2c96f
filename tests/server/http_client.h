// A minimal HTTP client.

#ifndef DRAGOMAN_TESTS_SERVER_HTTP_CLIENT_H_
#define DRAGOMAN_TESTS_SERVER_HTTP_CLIENT_H_

#include <string>

namespace dragoman {

struct HttpReply {
  int code = 0;  // 0: no answer
  std::string headers;
  std::string body;
};

// A connection that can send any bytes.  `address` is IPV4:PORT.
class RawHttpClient {
 public:
  explicit RawHttpClient(const std::string& address);
  ~RawHttpClient();
  RawHttpClient(const RawHttpClient&) = delete;
  RawHttpClient& operator=(const RawHttpClient&) = delete;

  void Send(const std::string& bytes);

  // Receives the next response; without a Content-Length, it extends to the end of the connection.
  HttpReply Receive(bool has_body = true);

  // Whether the server closes the connection within a few seconds without sending anything.
  bool IsClosed();

 private:
  bool More();

  int fd_;
  std::string received_;
};

// One request over its own connection.
HttpReply HttpGet(const std::string& address, const std::string& path,
                  const std::string& method = "GET");
// Each of `headers` ends with a line break.
HttpReply HttpPost(const std::string& address, const std::string& path, const std::string& body,
                   const std::string& headers);

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_SERVER_HTTP_CLIENT_H_
