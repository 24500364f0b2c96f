#include "server/net/listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/base/status.h"
#include "server/observe/logging.h"

namespace dragoman {
namespace {

constexpr absl::Duration kPause = absl::Milliseconds(100);  // while no descriptor is available

constexpr absl::Duration kWhileHeld = absl::Milliseconds(5);

constexpr char kUnix[] = "unix:";

// A socket address of any family.
struct Address {
  sockaddr_storage storage = {};
  socklen_t size = sizeof(sockaddr_storage);

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  // sin_port and sin6_port have the same offset.
  in_port_t* port() { return &reinterpret_cast<sockaddr_in*>(&storage)->sin_port; }
};

// "host" and "port" of "host:port" or "[host]:port".
std::pair<std::string, std::string> Split(const std::string& address) {
  const size_t colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  return {host, address.substr(colon + 1)};
}

absl::StatusOr<std::vector<Address>> Find(const std::string& host, const std::string& port) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found); error != 0) {
    return InvalidArgumentError("there is no host with that name (", gai_strerror(error), ")");
  }
  std::vector<Address> addresses;
  for (const addrinfo* info = found; info != nullptr; info = info->ai_next) {
    Address address;
    std::memcpy(&address.storage, info->ai_addr, info->ai_addrlen);
    address.size = info->ai_addrlen;
    addresses.push_back(address);
  }
  freeaddrinfo(found);
  return addresses;
}

absl::Status Reason(int error) {
  switch (error) {
    case EADDRINUSE:
      return absl::UnavailableError("the port is in use");
    case EADDRNOTAVAIL:
      return absl::InvalidArgumentError("the address is not one of this machine");
    case EACCES:
      return absl::UnavailableError("the port is for privileged users only");
    default:
      return absl::UnavailableError(std::strerror(error));
  }
}

// A listening socket, or -1 and an errno.
int ListenAt(const Address& address, bool both_families, int* error) {
  const int fd =
      socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
  if (fd < 0) {
    *error = errno;
    return -1;
  }
  const int on = 1, off = 0;
  // So that a server can be restarted while connections of the old one linger.
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (address.storage.ss_family == AF_INET6) {
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, both_families ? &off : &on, sizeof(on));
  }
  if (bind(fd, address.get(), address.size) == 0 && listen(fd, SOMAXCONN) == 0) return fd;
  *error = errno;
  close(fd);
  return -1;
}

// The IP address of a client; "" if it has none.  One of IPv4 at a socket of both families is of
// IPv4.
std::string HostOf(const Address& address) {
  if (address.storage.ss_family == AF_INET) {
    const in_addr& ip = reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_addr;
    return {reinterpret_cast<const char*>(&ip), sizeof(ip)};
  }
  if (address.storage.ss_family != AF_INET6) return "";
  const in6_addr& ip = reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_addr;
  const std::string bytes(reinterpret_cast<const char*>(&ip), sizeof(ip));
  return IN6_IS_ADDR_V4MAPPED(&ip) ? bytes.substr(sizeof(ip) - sizeof(in_addr)) : bytes;
}

// The client of a connection; "" if there is none.
std::string PeerOf(int fd) {
  Address peer;
  if (getpeername(fd, peer.get(), &peer.size) != 0) return "";
  return Listener::PeerAt(HostOf(peer), ntohs(*peer.port()));
}

Address LocalAddress(int fd) {
  Address address;
  getsockname(fd, address.get(), &address.size);
  return address;
}

// One socket for all addresses of the machine, of both families if it has both.
absl::StatusOr<std::vector<int>> ListenEverywhere(const std::string& port) {
  int error = 0;
  for (const char* host : {"::", "0.0.0.0"}) {
    const absl::StatusOr<std::vector<Address>> addresses = Find(host, port);
    if (!addresses.ok()) return addresses.status();
    const int fd = ListenAt(addresses->front(), /*both_families=*/true, &error);
    if (fd >= 0) return std::vector<int>{fd};
    if (error == EADDRINUSE) break;
  }
  return Reason(error);
}

// A name may have addresses that this machine lacks (::1 of localhost).  At least one must be
// available, and none may be in use by another process.
absl::StatusOr<std::vector<int>> ListenAtAll(std::vector<Address> addresses) {
  std::vector<int> sockets;
  int error = 0;
  for (Address& address : addresses) {
    if (!sockets.empty() && *address.port() == 0)
      *address.port() = *LocalAddress(sockets[0]).port();
    const int fd = ListenAt(address, /*both_families=*/false, &error);
    if (fd >= 0) sockets.push_back(fd);
    if (fd < 0 && error == EADDRINUSE) break;
  }
  if (!sockets.empty() && error != EADDRINUSE) return sockets;
  for (const int fd : sockets) close(fd);
  return Reason(error);
}

// Whether a file is a socket that nobody listens to.
bool IsLeftBehind(const std::string& path, const Address& address) {
  struct stat file;
  if (lstat(path.c_str(), &file) != 0 || !S_ISSOCK(file.st_mode)) return false;
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const bool refused =
      fd >= 0 && connect(fd, address.get(), address.size) != 0 && errno == ECONNREFUSED;
  if (fd >= 0) close(fd);
  return refused;
}

absl::StatusOr<std::vector<int>> ListenAtPath(const std::string& path) {
  Address address = {.size = sizeof(sockaddr_un)};
  auto* const unix_address = reinterpret_cast<sockaddr_un*>(&address.storage);
  unix_address->sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(unix_address->sun_path)) {
    return InvalidArgumentError("the path has ", path.size(), " bytes, want 1 to ",
                                sizeof(unix_address->sun_path) - 1);
  }
  std::memcpy(unix_address->sun_path, path.data(), path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return Reason(errno);
  // The file gets the mode that the socket has before it is bound, so there is no moment in which
  // anybody else could connect.
  bool bound = fchmod(fd, S_IRUSR | S_IWUSR) == 0 && bind(fd, address.get(), address.size) == 0;
  if (!bound && errno == EADDRINUSE && IsLeftBehind(path, address)) {
    unlink(path.c_str());
    bound = bind(fd, address.get(), address.size) == 0;
  }
  if (bound && listen(fd, SOMAXCONN) == 0) return std::vector<int>{fd};
  const int error = errno;
  close(fd);
  if (error == EADDRINUSE) return absl::UnavailableError("the path is in use");
  return absl::UnavailableError(std::strerror(error));
}

// A socket in the file system stands for its owner's consent, whoever made it.
absl::Status CheckPath(const std::string& address) {
  if (!absl::StartsWith(address, kUnix)) return absl::OkStatus();
  struct stat file;
  if (lstat(address.c_str() + sizeof(kUnix) - 1, &file) != 0) {
    return FailedPreconditionError(address, ": ", std::strerror(errno));
  }
  if ((file.st_mode & 077) == 0) return absl::OkStatus();
  return FailedPreconditionError(address, " has mode ",
                                 absl::StrFormat("%04o", file.st_mode & 07777),
                                 ", want 0600: it is for its owner alone (SocketMode=)");
}

bool WaitFor(int fd, short events, absl::Duration timeout) {
  pollfd wanted = {.fd = fd, .events = events, .revents = 0};
  return poll(&wanted, 1, static_cast<int>(absl::ToInt64Milliseconds(timeout))) == 1;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Listener>> Listener::OpenFor(const char* what,
                                                            const std::string& address,
                                                            const std::vector<int>& inherited) {
  absl::StatusOr<std::unique_ptr<Listener>> listener =
      inherited.empty() ? Open(address) : Adopt(inherited);
  if (listener.ok()) return listener;
  const std::string where = inherited.empty() ? address : "an inherited socket";
  return Annotate(listener.status(), "cannot listen on ", where, " for ", what, ": ");
}

absl::StatusOr<std::unique_ptr<Listener>> Listener::Open(const std::string& address) {
  const auto [host, port] = Split(address);
  const bool has_path = absl::StartsWith(address, kUnix);
  absl::StatusOr<std::vector<int>> sockets;
  if (has_path) {
    sockets = ListenAtPath(address.substr(sizeof(kUnix) - 1));
  } else if (host == "0.0.0.0" || host == "::" || host == "*") {
    sockets = ListenEverywhere(port);
  } else {
    ASSIGN_OR_RETURN(std::vector<Address> addresses, Find(host, port));
    sockets = ListenAtAll(std::move(addresses));
  }
  if (!sockets.ok()) return sockets.status();
  const int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake < 0) return Reason(errno);
  const std::string picked = has_path ? address
                                      : absl::StrCat(address.substr(0, address.rfind(':') + 1),
                                                     ntohs(*LocalAddress(sockets->front()).port()));
  std::unique_ptr<Listener> listener(
      new Listener(picked, *std::move(sockets), wake, /*adopted=*/false));
  listener->thread_ = std::thread([listener = listener.get()] { listener->Run(); });
  return listener;
}

std::string Listener::AddressOf(int socket) {
  const Address address = LocalAddress(socket);
  if (address.storage.ss_family == AF_UNIX) {
    const auto& path = reinterpret_cast<const sockaddr_un*>(&address.storage)->sun_path;
    return absl::StrCat(kUnix, std::string(path, strnlen(path, sizeof(path))));
  }
  char host[NI_MAXHOST] = "", port[NI_MAXSERV] = "";
  getnameinfo(address.get(), address.size, host, sizeof(host), port, sizeof(port),
              NI_NUMERICHOST | NI_NUMERICSERV);
  return address.storage.ss_family == AF_INET6 ? absl::StrCat("[", host, "]:", port)
                                               : absl::StrCat(host, ":", port);
}

absl::StatusOr<std::unique_ptr<Listener>> Listener::Adopt(const std::vector<int>& sockets) {
  for (const int fd : sockets) RETURN_IF_ERROR(CheckPath(AddressOf(fd)));
  const int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake < 0) return Reason(errno);
  return std::unique_ptr<Listener>(
      new Listener(AddressOf(sockets.front()), sockets, wake, /*adopted=*/true));
}

Listener::Listener(std::string address, std::vector<int> sockets, int wake, bool adopted)
    : address_(std::move(address)),
      sockets_(std::move(sockets)),
      wake_(wake),
      adopted_(adopted),
      spare_(open("/dev/null", O_RDONLY | O_CLOEXEC)) {}

Listener::~Listener() {
  Stop();
  close(wake_);
  if (spare_ >= 0) close(spare_);
}

void Listener::Serve(const ConnectionRange& range, Take take) {
  {
    absl::MutexLock lock(&mutex_);
    range_ = range;
    highest_ = range.first - 1;
    take_ = std::move(take);
  }
  if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
}

void Listener::Stop() {
  if (std::exchange(stopped_, true)) return;
  const uint64_t one = 1;
  if (write(wake_, &one, sizeof(one)) != sizeof(one)) DRAGOMAN_CHECK(false);
  if (thread_.joinable()) thread_.join();
  for (const int fd : sockets_) close(fd);
  // The path of an adopted socket stays: whoever made it still listens there.
  if (!adopted_ && absl::StartsWith(address_, kUnix)) unlink(address_.c_str() + sizeof(kUnix) - 1);
}

void Listener::Run() {
  std::vector<pollfd> waiting;
  for (const int fd : sockets_) waiting.push_back({.fd = fd, .events = POLLIN, .revents = 0});
  waiting.push_back({.fd = wake_, .events = POLLIN, .revents = 0});
  while (true) {
    if (poll(waiting.data(), waiting.size(), -1) < 0) continue;  // interrupted
    if (waiting.back().revents != 0) return;
    if (held_) {
      WaitFor(wake_, POLLIN, kWhileHeld);
      continue;
    }
    for (const pollfd& socket : waiting) {
      if (socket.revents != 0) Accept(socket.fd);
    }
  }
}

// Accepts the waiting connections, or some of them if there is no end to them.
void Listener::Accept(int socket) {
  constexpr int kAtOnce = 64;
  for (int i = 0; i < kAtOnce; ++i) {
    const int fd = accept4(socket, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      Place(fd);
      continue;
    }
    if (errno == EAGAIN) return;
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      return Refuse(socket);
    }
    // Otherwise the client is gone already.
  }
}

// Passes a new connection on under a number of the range, or closes it.
void Listener::Place(int fd) {
  if (IsKnock(fd)) {
    close(fd);
    return;
  }
  Take take;
  int placed = -1;
  {
    absl::MutexLock lock(&mutex_);
    if (take_ != nullptr) {
      placed = fcntl(fd, F_DUPFD_CLOEXEC, range_.first);
      if (placed >= range_.first + range_.most) {
        close(placed);
        placed = -1;
      }
      if (placed >= 0) {
        take = take_;
        highest_ = std::max(highest_, placed);
      } else {
        over_limit_.fetch_add(1, std::memory_order_relaxed);
      }
    }
  }
  close(fd);
  if (placed < 0) return;
  const int on = 1;
  setsockopt(placed, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  accepted_.fetch_add(1, std::memory_order_relaxed);
  take(placed);
}

// There is no descriptor for the first connection in the backlog: rather than being kept waiting,
// it is accepted with the spare descriptor and closed.
void Listener::Refuse(int socket) {
  if (no_descriptors_.fetch_add(1, std::memory_order_relaxed) == 0) {
    Log(LogLevel::kError, "out of file descriptors: connections are refused");
  }
  if (spare_ >= 0) {
    close(spare_);
    const int fd = accept4(socket, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd >= 0) close(fd);
  }
  spare_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
  WaitFor(wake_, POLLIN, kPause);
}

// Whether a connection is one of Probe's: from this machine, and from a port that it has noted.
bool Listener::IsKnock(int fd) {
  absl::MutexLock lock(&mutex_);
  if (knocks_.empty()) return false;
  Address peer;
  if (getpeername(fd, peer.get(), &peer.size) != 0) return false;
  return absl::c_linear_search(knocks_, *peer.port());
}

absl::Status Listener::Probe(absl::Duration timeout) {
  Address listening = LocalAddress(sockets_.front());
  const bool anywhere = Split(address_).first == "0.0.0.0" || Split(address_).first == "::" ||
                        Split(address_).first == "*";
  int only_ipv6 = 0;
  socklen_t size = sizeof(only_ipv6);
  getsockopt(sockets_.front(), IPPROTO_IPV6, IPV6_V6ONLY, &only_ipv6, &size);
  if (anywhere && only_ipv6 == 0) {  // a socket of both families also answers on the IPv4 address
    const in_port_t port = *listening.port();
    listening = Address{.size = sizeof(sockaddr_in)};
    auto* const loopback = reinterpret_cast<sockaddr_in*>(&listening.storage);
    *loopback = {.sin_family = AF_INET, .sin_port = port, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  }
  const int fd = socket(listening.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return Reason(errno);
  // Its port must be noted before it is accepted.
  Address own;
  own.storage.ss_family = listening.storage.ss_family;
  own.size = listening.size;
  bind(fd, own.get(), own.size);
  const int port = *LocalAddress(fd).port();
  {
    absl::MutexLock lock(&mutex_);
    knocks_.push_back(port);
  }
  const bool connects = connect(fd, listening.get(), listening.size) == 0 || errno == EINPROGRESS;
  const bool opened =
      connects && WaitFor(fd, POLLIN, timeout);  // closed by the listener, as agreed
  close(fd);
  absl::MutexLock lock(&mutex_);
  knocks_.erase(absl::c_find(knocks_, port));
  if (!opened) return absl::UnavailableError("the gRPC port does not answer");
  return absl::OkStatus();
}

std::string Listener::PeerAt(const std::string& ip, int port) {
  const bool is_ipv4 = ip.size() == sizeof(in_addr);
  char text[INET6_ADDRSTRLEN] = "";
  if (ip.empty() || !inet_ntop(is_ipv4 ? AF_INET : AF_INET6, ip.data(), text, sizeof(text))) {
    return "";
  }
  return is_ipv4 ? absl::StrCat("ipv4:", text, ":", port)
                 : absl::StrCat("ipv6:%5B", text, "%5D:", port);
}

void Listener::Abort(const std::string& peer) {
  if (peer.empty()) return;  // its socket has a path
  const sockaddr nobody = {.sa_family = AF_UNSPEC, .sa_data = {}};
  absl::MutexLock lock(&mutex_);  // nobody else gets the number of the descriptor meanwhile
  for (int fd = range_.first; fd <= highest_; ++fd) {
    if (PeerOf(fd) != peer || connect(fd, &nobody, sizeof(nobody)) != 0) continue;
    if (aborted_.fetch_add(1, std::memory_order_relaxed) == 0) {
      Log(LogLevel::kWarning, "a connection with too many calls, or too large messages, was reset");
    }
  }
}

std::vector<std::pair<std::string, int64_t>> Listener::Received() const {
  std::vector<std::pair<std::string, int64_t>> received;
  absl::MutexLock lock(&mutex_);
  for (int fd = range_.first; fd <= highest_; ++fd) {
    uint64_t info[17] = {};  // up to tcpi_bytes_received, which the C library does not have
    socklen_t size = sizeof(info);
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &size) != 0) continue;
    received.emplace_back(PeerOf(fd), static_cast<int64_t>(info[16]));
  }
  return received;
}

ListenerStats Listener::Stats() const {
  ListenerStats stats = {.accepted = accepted_,
                         .over_limit = over_limit_,
                         .no_descriptors = no_descriptors_,
                         .aborted = aborted_};
  absl::MutexLock lock(&mutex_);
  stats.limit = range_.most;
  for (int fd = range_.first; fd <= highest_; ++fd) stats.open += fcntl(fd, F_GETFD) != -1;
  return stats;
}

}  // namespace dragoman
