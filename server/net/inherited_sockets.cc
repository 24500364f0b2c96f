#include "server/net/inherited_sockets.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr int kFirstSocket = 3;
constexpr int kMostSockets = 64;  // far more than anybody needs; each takes a descriptor
constexpr std::string_view kAdmin = "admin";
constexpr std::string_view kPortNames[] = {"grpc", "http", "metrics", kAdmin};

// The value of a variable, which is removed; "" if it is not set.
std::string Take(const char* variable) {
  const char* const value = std::getenv(variable);
  const std::string taken = value == nullptr ? "" : value;
  unsetenv(variable);
  return taken;
}

bool Listens(int fd) {
  int type = 0, listens = 0;
  socklen_t size = sizeof(int);
  return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM &&
         getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens != 0;
}

// Who connects to a path may be known by its mode; over TCP anybody connects.
bool IsOfKind(int fd, bool at_path) {
  sockaddr_un address = {};  // large enough for the families of TCP
  socklen_t size = sizeof(address);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return false;
  if (at_path) return address.sun_family == AF_UNIX && address.sun_path[0] != '\0';
  return address.sun_family == AF_INET || address.sun_family == AF_INET6;
}

absl::Status Check(int fd, const std::string& name) {
  if (!absl::c_linear_search(kPortNames, name)) {
    return InvalidArgumentError("LISTEN_FDNAMES: descriptor ", fd, " is named \"", name,
                                "\", want grpc, http, metrics or admin (FileDescriptorName=)");
  }
  if (!Listens(fd)) {
    return InvalidArgumentError("LISTEN_FDS: descriptor ", fd, " (", name,
                                ") is not a listening stream socket (want Accept=no)");
  }
  if (!IsOfKind(fd, /*at_path=*/name == kAdmin)) {
    return InvalidArgumentError(
        "LISTEN_FDS: descriptor ", fd, " (", name, ") is not ",
        name == kAdmin ? "at a path: want ListenStream=/PATH, for the owner of the server alone"
                       : "of TCP: want ListenStream=HOST:PORT");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<InheritedSockets> TakeInheritedSockets() {
  const std::string pid = Take("LISTEN_PID"), number = Take("LISTEN_FDS");
  const std::string names = Take("LISTEN_FDNAMES");
  if (number.empty() || pid != absl::StrCat(getpid())) return InheritedSockets();
  int sockets = 0;
  if (!absl::SimpleAtoi(number, &sockets) || sockets < 0 || sockets > kMostSockets) {
    return InvalidArgumentError("LISTEN_FDS is \"", number, "\", want 0 to ", kMostSockets);
  }
  const std::vector<std::string> named = absl::StrSplit(names, ':');
  InheritedSockets inherited;
  for (int i = 0; i < sockets; ++i) {
    const int fd = kFirstSocket + i;
    const std::string name = static_cast<size_t>(i) < named.size() ? named[i] : "";
    RETURN_IF_ERROR(Check(fd, name));
    if (name == kAdmin && inherited.contains(name)) {
      return InvalidArgumentError("LISTEN_FDNAMES: descriptor ", fd,
                                  " is a second one named admin, want one");
    }
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    inherited[name].push_back(fd);
  }
  return inherited;
}

}  // namespace dragoman
