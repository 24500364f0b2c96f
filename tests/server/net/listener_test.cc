#include "server/net/listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "absl/time/clock.h"

namespace dragoman {
namespace {

using ::testing::HasSubstr;

constexpr int kFirst = 300;  // number of the first connection's descriptor

int PortOf(const std::string& address) {
  return std::atoi(address.c_str() + address.rfind(':') + 1);
}

// Connects to a port of 127.0.0.1.
class Client {
 public:
  explicit Client(const Listener& listener) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval timeout = {.tv_sec = 10, .tv_usec = 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(PortOf(listener.address()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  ~Client() { Close(); }
  Client(Client&& other) : fd_(std::exchange(other.fd_, -1)) {}

  void Close() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }
  int Port() const {
    sockaddr_in own = {};
    socklen_t size = sizeof(own);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&own), &size);
    return ntohs(own.sin_port);
  }
  // Returns what the server has sent; "" once it has hung up.
  std::string Read() const {
    char buffer[16];
    const ssize_t size = recv(fd_, buffer, sizeof(buffer), 0);
    if (size < 0 && errno == EAGAIN) return "nothing for ten seconds";
    return std::string(buffer, size > 0 ? size : 0);
  }

 private:
  int fd_;
};

// Greets each connection, and closes it when the client does.
class Greeter {
 public:
  explicit Greeter(Listener* listener, int most = 100) {
    listener->Serve({.first = kFirst, .most = most}, [this](int fd) {
      EXPECT_GE(fd, kFirst);
      EXPECT_EQ(send(fd, "hello", 5, MSG_NOSIGNAL), 5);
      threads_.emplace_back([fd] {
        fcntl(fd, F_SETFL, 0);  // make it blocking
        char byte;
        while (recv(fd, &byte, 1, 0) > 0) {
        }
        close(fd);
      });
    });
  }
  ~Greeter() {
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::vector<std::thread> threads_;
};

std::unique_ptr<Listener> Open(const std::string& address = "127.0.0.1:0") {
  absl::StatusOr<std::unique_ptr<Listener>> listener = Listener::Open(address);
  EXPECT_TRUE(listener.ok()) << listener.status();
  return *std::move(listener);
}

std::string WhyNot(const std::string& address) {
  return std::string(Listener::Open(address).status().message());
}

void AwaitOpen(const Listener& listener, int connections) {
  const absl::Time end = absl::Now() + absl::Seconds(10);
  while (listener.Stats().open != connections && absl::Now() < end) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  EXPECT_EQ(listener.Stats().open, connections);
}

TEST(Listener, DistinguishesWhyAPortCannotBeBound) {
  const auto listener = Open();
  EXPECT_EQ(WhyNot(listener->address()), "the port is in use");
  EXPECT_EQ(WhyNot("192.0.2.1:0"), "the address is not one of this machine");
  EXPECT_THAT(WhyNot("no-such-host.invalid:0"), HasSubstr("there is no host with that name"));
}

TEST(Listener, AnyAddressAndNamesWork) {
  for (const char* address : {"0.0.0.0:0", "[::]:0", "localhost:0", "127.0.0.1:0"}) {
    const absl::StatusOr<std::unique_ptr<Listener>> listener = Listener::Open(address);
    ASSERT_TRUE(listener.ok()) << address << ": " << listener.status();
    EXPECT_NE(PortOf((*listener)->address()), 0);
    EXPECT_TRUE((*listener)->Probe(absl::Seconds(10)).ok()) << address;
    Greeter greeter(listener->get());
    EXPECT_EQ(Client(**listener).Read(), "hello") << address;
    (*listener)->Stop();
  }
}

TEST(Listener, HangsUpUntilItServes) {
  const auto listener = Open();
  EXPECT_EQ(Client(*listener).Read(), "");
  Greeter greeter(listener.get());
  EXPECT_EQ(Client(*listener).Read(), "hello");
  EXPECT_EQ(listener->Stats().accepted, 1);
  listener->Stop();
}

TEST(Listener, ClosesConnectionsOverTheLimitUntilThereIsRoom) {
  const auto listener = Open();
  Greeter greeter(listener.get(), 3);
  std::vector<Client> clients;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back(*listener);
    EXPECT_EQ(clients.back().Read(), "hello");
  }
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Client(*listener).Read(), "");
  EXPECT_EQ(listener->Stats().open, 3);
  EXPECT_EQ(listener->Stats().over_limit, 5);
  EXPECT_TRUE(listener->Probe(absl::Seconds(10)).ok());  // the thread that accepts is alive
  clients.pop_back();
  AwaitOpen(*listener, 2);
  EXPECT_EQ(Client(*listener).Read(), "hello");
  clients.clear();
  listener->Stop();
}

TEST(Listener, ServesAgainAfterItRanOutOfDescriptors) {
  const auto listener = Open();
  Greeter greeter(listener.get());
  EXPECT_EQ(Client(*listener).Read(), "hello");
  AwaitOpen(*listener, 0);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  {
    // The client gets its descriptor before the server has none left.
    std::vector<int> hoard;
    const rlimit few = {.rlim_cur = 256, .rlim_max = before.rlim_max};
    const int client = socket(AF_INET, SOCK_STREAM, 0);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    for (int fd; (fd = open("/dev/null", O_RDONLY)) >= 0;) hoard.push_back(fd);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(PortOf(listener->address()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(client, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    char byte;
    EXPECT_LE(recv(client, &byte, 1, 0), 0);  // the server hangs up at once
    EXPECT_GT(listener->Stats().no_descriptors, 0);
    for (const int fd : hoard) close(fd);
    close(client);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  }
  EXPECT_EQ(Client(*listener).Read(), "hello");
  listener->Stop();
}

TEST(Listener, ProbeFailsWhenNobodyAccepts) {
  const auto listener = Open();
  EXPECT_TRUE(listener->Probe(absl::Seconds(10)).ok());
  Greeter greeter(listener.get());
  EXPECT_TRUE(listener->Probe(absl::Seconds(10)).ok());
  std::atomic<bool> go_on = false;
  listener->Serve({.first = kFirst, .most = 10}, [&](int fd) {
    close(fd);
    while (!go_on) std::this_thread::yield();  // keeps the listener's thread busy
  });
  Client client(*listener);
  EXPECT_EQ(client.Read(), "");
  EXPECT_FALSE(listener->Probe(absl::Milliseconds(50)).ok());
  go_on = true;
  EXPECT_TRUE(listener->Probe(absl::Seconds(10)).ok());
  listener->Stop();
}

TEST(Listener, ThoseWhoConnectWaitWhileItIsHeld) {
  const auto listener = Open();
  Greeter greeter(listener.get());
  listener->Hold(true);
  Client client(*listener);
  absl::SleepFor(absl::Milliseconds(30));
  EXPECT_EQ(listener->Stats().accepted, 0);
  listener->Hold(false);
  EXPECT_EQ(client.Read(), "hello");
  client.Close();
  listener->Hold(true);
  listener->Stop();  // which a listener that is held does, too
}

TEST(Listener, AbortResetsTheConnectionOfOneClientAlone) {
  for (const char* address : {"127.0.0.1:0", "0.0.0.0:0"}) {  // the latter at a socket of IPv6
    const auto listener = Open(address);
    Greeter greeter(listener.get());
    Client bad(*listener), good(*listener);
    EXPECT_EQ(bad.Read() + good.Read(), "hellohello");
    const auto at = [](int last, int port) {
      return Listener::PeerAt({'\x7f', 0, 0, static_cast<char>(last)}, port);
    };
    EXPECT_EQ(at(1, 80), "ipv4:127.0.0.1:80");
    EXPECT_THAT(listener->Received(),
                testing::UnorderedElementsAre(testing::Pair(at(1, bad.Port()), testing::Ge(0)),
                                              testing::Pair(at(1, good.Port()), testing::Ge(0))));
    listener->Abort(at(2, bad.Port()));
    listener->Abort(at(1, PortOf(listener->address())));  // nobody's
    EXPECT_EQ(listener->Stats().aborted, 0);
    listener->Abort(at(1, bad.Port()));
    EXPECT_EQ(bad.Read(), "");
    EXPECT_EQ(listener->Stats().aborted, 1);
    AwaitOpen(*listener, 1);
    good.Close();
    listener->Stop();
  }
}

// A socket that listens at a free port of an address.
int Listening(in_addr_t address) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  sockaddr_in place = {};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(address);
  EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&place), sizeof(place)), 0);
  EXPECT_EQ(listen(fd, 8), 0);
  return fd;
}

TEST(Listener, WhoConnectsToAnAdoptedSocketWaitsUntilItServes) {
  auto listener = *Listener::Adopt({Listening(INADDR_LOOPBACK), Listening(INADDR_ANY)});
  EXPECT_THAT(listener->address(), HasSubstr("127.0.0.1:"));
  Client early(*listener);
  Greeter greeter(listener.get());
  EXPECT_EQ(early.Read(), "hello");
  early.Close();
  EXPECT_EQ(Client(*listener).Read(), "hello");
  EXPECT_TRUE(listener->Probe(absl::Seconds(10)).ok());
  listener->Stop();
}

TEST(Listener, AnAdoptedSocketThatNeverServedIsClosed) {
  auto listener = *Listener::Adopt({Listening(INADDR_LOOPBACK)});
  const Client early(*listener);
  listener = nullptr;
  EXPECT_EQ(early.Read(), "");
}

TEST(Listener, ProbesAnAdoptedSocketOfOneFamily) {
  const int fd = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;
  setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
  if (listen(fd, 8) != 0) GTEST_SKIP() << "this machine has no IPv6";
  auto listener = *Listener::Adopt({fd});
  EXPECT_THAT(listener->address(), HasSubstr("[::]:"));
  Greeter greeter(listener.get());
  EXPECT_TRUE(listener->Probe(absl::Seconds(10)).ok());
  listener->Stop();
}

TEST(Listener, AnAdoptedPathIsForItsOwnerAloneAndStays) {
  const std::string path = testing::TempDir() + "dragoman_adopted_" + std::to_string(getpid());
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  unlink(path.c_str());
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(fd, 8), 0);
  ASSERT_EQ(chmod(path.c_str(), 0666), 0);
  EXPECT_THAT(Listener::Adopt({fd}).status().ToString(), HasSubstr("has mode 0666, want 0600"));
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  {
    const auto listener = Listener::Adopt({fd});
    ASSERT_TRUE(listener.ok()) << listener.status();
    EXPECT_EQ((*listener)->address(), "unix:" + path);
  }
  EXPECT_EQ(unlink(path.c_str()), 0);
}

TEST(Listener, ASocketInTheFileSystemIsForItsOwnerAndReplacesOneThatWasLeftBehind) {
  const std::string path = testing::TempDir() + "dragoman_listener_" + std::to_string(getpid());
  // Left behind: bound, and closed without being removed.
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const int old = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(old, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  close(old);
  struct stat file;
  {
    auto listener = Listener::Open("unix:" + path);
    ASSERT_TRUE(listener.ok()) << listener.status();
    EXPECT_EQ((*listener)->address(), "unix:" + path);
    ASSERT_EQ(stat(path.c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 0777, 0600u);
    const auto second = Listener::Open("unix:" + path);
    EXPECT_THAT(second.status().ToString(), HasSubstr("the path is in use"));
    (*listener)->Serve({.first = kFirst, .most = 1}, [](int fd) { close(fd); });
    const int client = socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(connect(client, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    char byte;
    EXPECT_EQ(recv(client, &byte, 1, 0), 0);
    close(client);
  }
  EXPECT_NE(stat(path.c_str(), &file), 0);
  // A file that is no socket stays.
  close(open(path.c_str(), O_CREAT | O_WRONLY, 0600));
  EXPECT_THAT(Listener::Open("unix:" + path).status().ToString(), HasSubstr("the path is in use"));
  EXPECT_EQ(stat(path.c_str(), &file), 0);
  unlink(path.c_str());
  EXPECT_EQ(Listener::Open("unix:" + std::string(200, 'x')).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace dragoman
