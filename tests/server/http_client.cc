#include "tests/server/http_client.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace dragoman {

RawHttpClient::RawHttpClient(const std::string& address) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
  const size_t colon = address.rfind(':');
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(std::atoi(address.c_str() + colon + 1)));
  inet_pton(AF_INET, address.substr(0, colon).c_str(), &to.sin_addr);
  const timeval patience = {.tv_sec = 20, .tv_usec = 0};
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof(to));
}

RawHttpClient::~RawHttpClient() { close(fd_); }

void RawHttpClient::Send(const std::string& bytes) {
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t n =
        TEMP_FAILURE_RETRY(send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL));
    if (n <= 0) return;
    sent += n;
  }
}

bool RawHttpClient::More() {
  char buffer[4096];
  // With a time limit, recv also returns when the process is stopped and continued.
  const ssize_t n = TEMP_FAILURE_RETRY(recv(fd_, buffer, sizeof(buffer), 0));
  if (n <= 0) return false;
  received_.append(buffer, n);
  return true;
}

HttpReply RawHttpClient::Receive(bool has_body) {
  size_t end;
  while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
    if (!More()) return {};
  }
  HttpReply answer;
  answer.headers = received_.substr(0, end);
  if (answer.headers.compare(0, 5, "HTTP/") != 0) return {};
  answer.code = std::atoi(answer.headers.c_str() + answer.headers.find(' '));
  received_.erase(0, end + 4);
  if (!has_body || answer.code == 204 || answer.code == 100) return answer;
  const char* const length = strcasestr(answer.headers.c_str(), "content-length:");
  if (length == nullptr) {
    while (More()) {
    }
    answer.body.swap(received_);
    return answer;
  }
  const size_t size = std::atoi(length + 15);
  while (received_.size() < size && More()) {
  }
  answer.body = received_.substr(0, size);
  received_.erase(0, answer.body.size());
  return answer;
}

bool RawHttpClient::IsClosed() { return received_.empty() && !More(); }

HttpReply HttpGet(const std::string& address, const std::string& path, const std::string& method) {
  RawHttpClient client(address);
  client.Send(method + " " + path + " HTTP/1.0\r\n\r\n");
  return client.Receive(method != "HEAD");
}

HttpReply HttpPost(const std::string& address, const std::string& path, const std::string& body,
                   const std::string& headers) {
  RawHttpClient client(address);
  client.Send("POST " + path + " HTTP/1.1\r\nHost: test\r\nConnection: close\r\n" + headers +
              "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  return client.Receive();
}

}  // namespace dragoman
