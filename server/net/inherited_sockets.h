// The listening sockets that a service manager opened before it started this process, as systemd
// does for socket units (sd_listen_fds(3)).  The environment describes the descriptors from 3 on:
//
//   LISTEN_PID=4711 LISTEN_FDS=3 LISTEN_FDNAMES=grpc:grpc:http
//
// Each takes the place of an address that the server would listen at otherwise.  Clients can
// connect from then on, also while a server is restarted: they wait in the socket's backlog.

#ifndef DRAGOMAN_SERVER_NET_INHERITED_SOCKETS_H_
#define DRAGOMAN_SERVER_NET_INHERITED_SOCKETS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace dragoman {

// The descriptors by the name of the port: "grpc", "http" and "metrics" of TCP, and "admin", which
// is one at a path: the owner of the server is known by it.
using InheritedSockets = std::map<std::string, std::vector<int>>;

// Empty if the environment names none, or another process.  INVALID_ARGUMENT: one has a name that
// is not that of a port, is not of the port's kind, or does not listen.  The variables are removed,
// so that it finds them once.  REQUIRES: the process has no other thread yet.
absl::StatusOr<InheritedSockets> TakeInheritedSockets();

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_NET_INHERITED_SOCKETS_H_
