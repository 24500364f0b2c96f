#include "server/net/inherited_sockets.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

namespace dragoman {
namespace {

// Descriptors have fixed numbers, so each case has a process of its own, which ends with 0 if
// `check` holds.
void InProcess(const std::function<bool()>& check, const char* message = "") {
  EXPECT_EXIT(_exit(check() ? 0 : 1), testing::ExitedWithCode(0), message);
}

void Place(int fd, int number) {
  if (fd == number) return;
  dup2(fd, number);
  close(fd);
}

// Makes the descriptor `number` a socket, which listens unless it is not to.
void PlaceSocket(int number, bool listens = true) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (listens) listen(fd, 8);  // at a port of the kernel's choice
  Place(fd, number);
}

// Makes it one that listens at a path; at "" at none, as sockets of Linux may.
void PlaceUnixSocket(int number, const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const socklen_t own = sizeof(address.sun_family);  // the kernel chooses an abstract name
  unlink(path.c_str());
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), path.empty() ? own : sizeof(address)) != 0 ||
      listen(fd, 8) != 0) {
    _exit(2);
  }
  if (!path.empty()) unlink(path.c_str());
  Place(fd, number);
}

void Describe(const std::string& pid, const char* sockets, const char* names) {
  setenv("LISTEN_PID", pid.c_str(), 1);
  setenv("LISTEN_FDS", sockets, 1);
  setenv("LISTEN_FDNAMES", names, 1);
}

std::string Self() { return std::to_string(getpid()); }

// Prints the error that the environment causes.
bool Fails() {
  const auto taken = TakeInheritedSockets();
  std::fprintf(stderr, "%s\n", taken.status().ToString().c_str());
  return absl::IsInvalidArgument(taken.status());
}

TEST(InheritedSocketsDeathTest, AreFoundByNameOnce) {
  InProcess([] {
    for (const int number : {3, 4, 5}) PlaceSocket(number);
    Describe(Self(), "3", "grpc:http:grpc");
    const auto taken = TakeInheritedSockets();
    const InheritedSockets want = {{"grpc", {3, 5}}, {"http", {4}}};
    const auto again = TakeInheritedSockets();
    return taken.ok() && *taken == want && again.ok() && again->empty() &&
           std::getenv("LISTEN_FDNAMES") == nullptr;
  });
}

TEST(InheritedSocketsDeathTest, NeitherBlockNorReachChildren) {
  InProcess([] {
    PlaceSocket(3);
    Describe(Self(), "1", "http");
    return TakeInheritedSockets().ok() && (fcntl(3, F_GETFL) & O_NONBLOCK) != 0 &&
           (fcntl(3, F_GETFD) & FD_CLOEXEC) != 0;
  });
}

TEST(InheritedSocketsDeathTest, ThoseOfAnotherProcessAreLeftAlone) {
  InProcess([] {
    PlaceSocket(3);
    Describe("1", "1", "grpc");
    const auto taken = TakeInheritedSockets();
    return taken.ok() && taken->empty();
  });
}

TEST(InheritedSocketsDeathTest, AnUnknownNameIsNamed) {
  InProcess(
      [] {
        PlaceSocket(3);
        Describe(Self(), "1", "dragoman.socket");
        return Fails();
      },
      "descriptor 3 is named .dragoman.socket., want grpc, http, metrics or admin");
  InProcess(
      [] {
        for (const int number : {3, 4}) PlaceSocket(number);
        Describe(Self(), "2", "grpc");
        return Fails();
      },
      "descriptor 4 is named ..,");
}

TEST(InheritedSocketsDeathTest, WhatDoesNotListenIsNamed) {
  const char message[] = "descriptor 3 .grpc. is not a listening stream socket";
  InProcess(
      [] {
        PlaceSocket(3, /*listens=*/false);
        Describe(Self(), "1", "grpc");
        return Fails();
      },
      message);
  InProcess(
      [] {
        Place(open("/dev/null", O_RDONLY), 3);
        Describe(Self(), "1", "grpc");
        return Fails();
      },
      message);
  InProcess(
      [] {
        close(3);
        Describe(Self(), "1", "grpc");
        return Fails();
      },
      message);
}

TEST(InheritedSocketsDeathTest, OnlyOneAtAPathIsTheOwners) {
  const std::string path = testing::TempDir() + "inherited_" + std::to_string(getpid()) + ".sock";
  InProcess([&] {
    PlaceUnixSocket(3, path);
    PlaceSocket(4);
    Describe(Self(), "2", "admin:grpc");
    const auto taken = TakeInheritedSockets();
    return taken.ok() && *taken == InheritedSockets{{"admin", {3}}, {"grpc", {4}}};
  });
  const auto refused = [&](const std::function<void()>& place, const char* names,
                           const char* message) {
    InProcess(
        [&] {
          place();
          Describe(Self(), "2", names);
          return Fails();
        },
        message);
  };
  const auto with_tcp = [&] {
    PlaceUnixSocket(3, path);
    PlaceSocket(4);
  };
  refused(with_tcp, "admin:admin",
          "descriptor 4 .admin. is not at a path: want ListenStream=/PATH");
  refused(with_tcp, "http:grpc", "descriptor 3 .http. is not of TCP: want ListenStream=HOST:PORT");
  const auto with_abstract = [&] {
    PlaceUnixSocket(3, path);
    PlaceUnixSocket(4, "");
  };
  refused(with_abstract, "admin:admin", "descriptor 4 .admin. is not at a path");
  const auto with_two = [&] {
    PlaceUnixSocket(3, path);
    PlaceUnixSocket(4, path);
  };
  refused(with_two, "admin:admin", "descriptor 4 is a second one named admin, want one");
}

TEST(InheritedSocketsDeathTest, TheirNumberMustBeOne) {
  for (const char* number : {"many", "-1", "100000"}) {
    InProcess(
        [&] {
          Describe(Self(), number, "grpc");
          return Fails();
        },
        "LISTEN_FDS is .*, want 0 to 64");
  }
}

}  // namespace
}  // namespace dragoman
