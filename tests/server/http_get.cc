#include "tests/server/http_get.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

namespace dragoman {

HttpAnswer HttpGet(const std::string& address, const std::string& path, const std::string& method) {
  const size_t colon = address.rfind(':');
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(std::atoi(address.c_str() + colon + 1)));
  inet_pton(AF_INET, address.substr(0, colon).c_str(), &to.sin_addr);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  std::string reply;
  if (connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0) {
    const std::string request = method + " " + path + " HTTP/1.0\r\n\r\n";
    send(fd, request.data(), request.size(), MSG_NOSIGNAL);
    char buffer[4096];
    for (ssize_t n; (n = recv(fd, buffer, sizeof(buffer), 0)) > 0;) reply.append(buffer, n);
  }
  close(fd);
  const size_t end = reply.find("\r\n\r\n");
  if (reply.compare(0, 5, "HTTP/") != 0 || end == std::string::npos) return {};
  return {std::atoi(reply.c_str() + reply.find(' ')), reply.substr(0, end), reply.substr(end + 4)};
}

}  // namespace dragoman
