#include "client/server_address.h"

#include <netdb.h>
#include <sys/socket.h>

#include <string_view>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr char kDefaultPort[] = ":50051";

bool TakePrefix(std::string_view prefix, std::string* text) {
  if (text->compare(0, prefix.size(), prefix) != 0) return false;
  text->erase(0, prefix.size());
  return true;
}

// Whether it begins with one of gRPC's own schemes rather than a host name.
bool HasScheme(const std::string& text) {
  constexpr std::string_view kSchemes[] = {
      "dns:", "unix:", "unix-abstract:", "vsock:", "ipv4:", "ipv6:", "xds:"};
  return absl::c_any_of(kSchemes, [&](std::string_view scheme) {
    return text.compare(0, scheme.size(), scheme) == 0;
  });
}

std::string WithPort(const std::string& host) {
  if (host.front() == '[') return host.back() == ']' ? host + kDefaultPort : host;  // [::1]
  switch (absl::c_count(host, ':')) {
    case 0:
      return host + kDefaultPort;
    case 1:
      return host;
    default:  // ::1
      return "[" + host + "]" + kDefaultPort;
  }
}

}  // namespace

absl::StatusOr<ServerAddress> ParseServerAddress(const std::string& text) {
  ServerAddress address;
  std::string rest = text;
  address.tls = TakePrefix("https://", &rest);
  const bool url = address.tls || TakePrefix("http://", &rest);
  if (url && !rest.empty() && rest.back() == '/') rest.pop_back();
  if (rest.empty() || (url && rest.find('/') != std::string::npos)) {
    return InvalidArgumentError("--server is \"", text,
                                "\", want HOST:PORT of the server's gRPC address");
  }
  address.target = HasScheme(rest) ? rest : WithPort(rest);
  return address;
}

ResolvedName ResolveName(const std::string& target) {
  ResolvedName resolved;
  const size_t colon = target.rfind(':');
  if (colon == std::string::npos || HasScheme(target)) return resolved;
  resolved.host = target.substr(0, colon);
  const addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  addrinfo* list = nullptr;
  if (getaddrinfo(resolved.host.c_str(), nullptr, &hints, &list) != 0) return resolved;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    char host[NI_MAXHOST];
    if (getnameinfo(entry->ai_addr, entry->ai_addrlen, host, sizeof(host), nullptr, 0,
                    NI_NUMERICHOST) != 0) {
      continue;
    }
    if (resolved.host == host || resolved.host == absl::StrCat("[", host, "]")) break;  // no name
    const std::string port = target.substr(colon);
    if (entry->ai_family == AF_INET) {
      resolved.targets.push_back(absl::StrCat("ipv4:", host, port));
    } else if (entry->ai_family == AF_INET6) {
      resolved.targets.push_back(absl::StrCat("ipv6:[", host, "]", port));
    }
  }
  freeaddrinfo(list);
  return resolved;
}

std::string ExplainUnreachable(const std::string& grpc_message, const ClientTls* tls) {
  const auto says = [&](const char* part) { return grpc_message.find(part) != std::string::npos; };
  if (says("Connection refused")) return kNothingListens;
  if (says("DNS resolution failed")) return "no host of that name is known";
  if (says("Failed parsing HTTP/2") || says("http1.x server")) {
    return "what listens there does not speak gRPC (the server's HTTP port is another one)";
  }
  if (says("wrong version number")) return "it does not speak TLS; leave --tls out";
  if (says("certificate verify failed")) {
    return "its certificate is not from a trusted authority; name the authority with --tls-ca";
  }
  if (says("Peer name")) {
    return "its certificate is for another name; give that name with --tls-server-name";
  }
  if (says("Socket closed") && tls == nullptr) {
    return "it closed the connection at once; perhaps it is still loading its models, or wants TLS "
           "(--tls, --tls-ca)";
  }
  if (says("Socket closed") && tls->cert.empty()) {
    return "it closed the connection at once; perhaps it wants a client certificate (--tls-cert, "
           "--tls-key)";
  }
  return grpc_message;
}

}  // namespace dragoman
