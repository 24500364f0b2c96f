// The server as a process: exit codes, the line that it prints, and signals.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "dragoman/v1/translation.grpc.pb.h"
#include "tests/server/http_client.h"
#include "tests/server/test_server.h"

namespace dragoman::binary_test {
namespace {

using ::testing::HasSubstr;

// dragoman-server, started with flags and further variables of the environment.
class Process {
 public:
  explicit Process(std::vector<std::string> flags,
                   const std::map<std::string, std::string>& variables = {}) {
    flags.insert(flags.begin(), DRAGOMAN_SERVER_BINARY);
    std::vector<char*> argv;
    for (std::string& flag : flags) argv.push_back(flag.data());
    argv.push_back(nullptr);
    int out[2];
    int err[2];
    EXPECT_EQ(pipe2(out, O_CLOEXEC) | pipe2(err, O_CLOEXEC), 0);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(out[1], STDOUT_FILENO);
      dup2(err[1], STDERR_FILENO);
      for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
      execv(argv[0], argv.data());
      _exit(127);
    }
    close(out[1]);
    close(err[1]);
    out_ = out[0];
    err_ = err[0];
  }

  ~Process() {
    if (pid_ > 0) {
      Kill(SIGKILL);
      Await();
    }
    close(out_);
    close(err_);
  }

  void Kill(int signal) const { kill(pid_, signal); }

  // The exit code, or 1000 + the signal that ended the process.
  int Await() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }

  std::string ReadLine() const {
    std::string line;
    for (char c; read(out_, &c, 1) == 1 && c != '\n';) line += c;
    return line;
  }

  // REQUIRES: the process has ended.
  std::string Output() const { return ReadAll(out_); }
  std::string Errors() const { return ReadAll(err_); }

 private:
  static std::string ReadAll(int fd) {
    std::string text;
    char buffer[4096];
    for (ssize_t n; (n = read(fd, buffer, sizeof(buffer))) > 0;) text.append(buffer, n);
    return text;
  }

  pid_t pid_ = 0;
  int out_ = -1;
  int err_ = -1;
};

std::vector<std::string> GoodFlags() {
  return {std::string("--model=en-de=") + kModelDirectory, "--grpc-address=127.0.0.1:0",
          "--http-address=127.0.0.1:0", "--workers=1", "--precision=float32"};
}

// The addresses in `listening grpc=HOST:PORT http=HOST:PORT`.
std::pair<std::string, std::string> Addresses(const std::string& line) {
  const std::string grpc = "listening grpc=";
  const size_t http = line.find(" http=");
  if (line.compare(0, grpc.size(), grpc) != 0 || http == std::string::npos) {
    ADD_FAILURE() << line;
    return {};
  }
  return {line.substr(grpc.size(), http - grpc.size()), line.substr(http + 6)};
}

TEST(Binary, PrintsWhereItListensServesAndDrainsOnSigterm) {
  Process server(GoodFlags());
  const auto [grpc_address, http_address] = Addresses(server.ReadLine());
  EXPECT_EQ(HttpGet(http_address, "/readyz").code, 200);
  const auto stub = v1::TranslationService::NewStub(
      grpc::CreateChannel(grpc_address, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  v1::TranslateResponse response;
  const grpc::Status status = stub->Translate(&context, RequestFor({"The cat is old."}), &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.translations(0).hypotheses(0).text(), "Die Katze ist alt.");
  server.Kill(SIGTERM);
  EXPECT_EQ(server.Await(), 0);
  EXPECT_EQ(server.Output(), "");
  EXPECT_THAT(server.Errors(), HasSubstr("drained"));
}

TEST(Binary, SignalsWithoutAMeaningDoNotEndIt) {
  Process server(GoodFlags());
  const std::string http_address = Addresses(server.ReadLine()).second;
  for (const int signal : {SIGUSR1, SIGUSR2, SIGALRM, SIGPROF, SIGRTMIN, SIGRTMAX}) {
    server.Kill(signal);
    EXPECT_EQ(HttpGet(http_address, "/readyz").code, 200) << signal;
  }
  server.Kill(SIGTERM);
  EXPECT_EQ(server.Await(), 0);
}

// A socket on which a service manager listens.
class NotifySocket {
 public:
  // `name` is a path, or begins with @.
  explicit NotifySocket(const std::string& name) : fd_(socket(AF_UNIX, SOCK_DGRAM, 0)) {
    sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    EXPECT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&address), size), 0) << name;
  }
  ~NotifySocket() { close(fd_); }

  // The next message; waits for it.
  std::string Read() const {
    char buffer[256];
    const ssize_t size = recv(fd_, buffer, sizeof(buffer), 0);
    return size < 0 ? "" : std::string(buffer, static_cast<size_t>(size));
  }

 private:
  const int fd_;
};

TEST(Binary, TellsTheServiceManagerWhenItIsReadyAndWhenItStops) {
  const std::string id = std::to_string(getpid());
  const std::string path = testing::TempDir() + "dragoman_notify_" + id;
  for (const std::string& name : {path, "@dragoman_notify_" + id}) {
    unlink(path.c_str());
    const NotifySocket socket(name);
    Process server(GoodFlags(), {{"NOTIFY_SOCKET", name}});
    EXPECT_EQ(socket.Read(), "READY=1");
    const std::string http_address = Addresses(server.ReadLine()).second;
    EXPECT_EQ(HttpGet(http_address, "/readyz").code, 200);
    server.Kill(SIGTERM);
    EXPECT_EQ(socket.Read(), "STOPPING=1");
    EXPECT_EQ(server.Await(), 0);
  }
  unlink(path.c_str());
}

TEST(Binary, SecondSignalEndsItAtOnce) {
  std::vector<std::string> flags = GoodFlags();
  flags.push_back("--drain-timeout=1h");
  Process server(flags);
  const auto [grpc_address, http_address] = Addresses(server.ReadLine());
  const auto stub = v1::TranslationService::NewStub(
      grpc::CreateChannel(grpc_address, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  const v1::TranslateRequest request = LongRequest();
  v1::TranslateResponse response;
  absl::Notification ended;
  stub->async()->Translate(&context, &request, &response,
                           [&](const grpc::Status&) { ended.Notify(); });
  const auto in_flight = [&, address = http_address] {
    return ParseMetrics(HttpGet(address, "/metrics").body)["dragoman_requests_in_flight"];
  };
  while (in_flight() != 1) std::this_thread::yield();
  server.Kill(SIGINT);
  while (HttpGet(http_address, "/readyz").code != 503) std::this_thread::yield();
  server.Kill(SIGINT);
  EXPECT_EQ(server.Await(), 128 + SIGINT);
  ended.WaitForNotification();
}

TEST(Binary, HelpAndVersionExitWithZero) {
  Process help({"--help"});
  EXPECT_EQ(help.Await(), 0);
  EXPECT_THAT(help.Output(), HasSubstr("--model"));
  Process version({"--version"});
  EXPECT_EQ(version.Await(), 0);
  EXPECT_THAT(version.Output(), HasSubstr("dragoman-server "));
}

TEST(Binary, AnUnservableModelExitsWithOneAndSaysWhy) {
  TestServer other;
  const std::string grpc = other.server().grpc_address();
  const std::string http = other.server().http_address();
  const std::string model = std::string("--model=en-de=") + kModelDirectory;
  const struct {
    std::vector<std::string> flags;
    std::string message;
  } cases[] = {
      {{}, "no model to serve"},
      {{"--no-such-flag"}, "--no-such-flag"},
      {{model, "--workers=-1"}, "workers is -1"},
      {{"--model=x=no/such/dir", "--http-address=127.0.0.1:0"}, "no/such/dir"},
      {{model, "--http-address=" + http}, http},
      {{model, "--http-address=127.0.0.1:0", "--grpc-address=" + grpc}, grpc},
  };
  for (const auto& test : cases) {
    Process server(test.flags);
    EXPECT_EQ(server.Await(), 1) << test.message;
    EXPECT_EQ(server.Output(), "");
    const std::string errors = server.Errors();
    EXPECT_THAT(errors, HasSubstr("dragoman-server: "));
    EXPECT_THAT(errors, HasSubstr(test.message));
  }
}

}  // namespace
}  // namespace dragoman::binary_test
