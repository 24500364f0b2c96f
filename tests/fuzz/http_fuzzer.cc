// Any bytes, sent to the HTTP port: through the connection, the JSON API, the compatibility APIs,
// and the engine with a small model.
//
// Whatever is sent, the server hangs up in time, and it has sent nothing but responses with status
// codes that a client's mistake can have.

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <set>
#include <string>

#include "tests/fuzz/fuzz_server.h"
#include "tests/fuzz/fuzzer.h"

namespace dragoman {
namespace {

ServerOptions HttpOptions() {
  ServerOptions options = FuzzServerOptions();
  options.config.set_http_threads(1);
  options.config.mutable_http_header_timeout()->set_seconds(2);
  options.config.mutable_http_body_timeout()->set_seconds(2);
  return options;
}

Server& TheHttpServer() {
  static Server& server = *StartForever(HttpOptions());
  return server;
}

// Whether the bytes are a whole request, or more.  Only a guess: it decides what to wait for.
bool IsWhole(const std::string& bytes) {
  static const std::string kLength = "Content-Length: ";
  const size_t end = bytes.find("\r\n\r\n");
  if (end == bytes.npos) return false;
  const size_t length = bytes.find(kLength);
  if (length > end) return true;
  return bytes.size() - end - 4 >= std::strtoul(&bytes[length + kLength.size()], nullptr, 10);
}

// Sends the bytes and returns everything that comes back until the server hangs up.  The alarm with
// which libFuzzer watches for timeouts may interrupt each call.
std::string AnswerTo(const std::string& bytes) {
  const std::string& address = TheHttpServer().http_address();
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(std::atoi(address.c_str() + address.rfind(':') + 1)));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  FUZZ_CHECK(connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0);
  const timeval patience = {.tv_sec = 60, .tv_usec = 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t n =
        TEMP_FAILURE_RETRY(send(fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL));
    if (n <= 0) break;  // the server has hung up
    sent += n;
  }
  // The server cancels what a client asked for that has closed its end.
  pollfd answer = {.fd = fd, .events = POLLIN, .revents = 0};
  if (IsWhole(bytes)) poll(&answer, 1, 1000);
  shutdown(fd, SHUT_WR);
  std::string received;
  char buffer[4096];
  ssize_t n;
  while ((n = TEMP_FAILURE_RETRY(recv(fd, buffer, sizeof(buffer), 0))) > 0) {
    received.append(buffer, n);
  }
  FUZZ_CHECK(n == 0 || errno == ECONNRESET);  // any other error is a timeout
  close(fd);
  return received;
}

}  // namespace
}  // namespace dragoman

FUZZER(http) {
  static const std::set<int> kCodes = {100, 200, 204, 400, 401, 404, 405, 408, 413, 415,
                                       417, 426, 429, 431, 499, 501, 503, 504, 505};
  const std::string answer =
      dragoman::AnswerTo(std::string(reinterpret_cast<const char*>(data), size));
  if (answer.empty()) return;
  FUZZ_CHECK(answer.compare(0, 9, "HTTP/1.1 ") == 0);
  FUZZ_CHECK(kCodes.contains(std::atoi(answer.c_str() + 9)));
}
