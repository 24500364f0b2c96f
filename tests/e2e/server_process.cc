#include "tests/e2e/server_process.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <optional>

#include "client/line_reader.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

// Reads HOST:PORT after `name` from the line `listening grpc=HOST:PORT http=HOST:PORT`; "" if it is
// not there.
std::string AddressIn(const std::string& line, const std::string& name) {
  if (line.rfind("listening ", 0) != 0) return "";
  const size_t at = line.find(name);
  if (at == std::string::npos) return "";
  const size_t begin = at + name.size();
  return line.substr(begin, line.find(' ', begin) - begin);
}

}  // namespace

ServerProcess::ServerProcess(const std::string& grpc_address) {
  const char* const binary = std::getenv("DRAGOMAN_SERVER_BINARY");
  DRAGOMAN_CHECK(binary != nullptr);
  const char* const argv[] = {binary,
                              "--model",
                              "en-de=tests/golden/models/en-de",
                              "--precision",
                              "float32",
                              "--workers",
                              "1",
                              "--grpc-address",
                              grpc_address.c_str(),
                              "--http-address",
                              "127.0.0.1:0",
                              nullptr};
  int ends[2];
  DRAGOMAN_CHECK(pipe(ends) == 0);
  output_ = ends[0];
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  DRAGOMAN_CHECK(
      posix_spawn(&pid_, binary, &actions, nullptr, const_cast<char* const*>(argv), environ) == 0);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  LineReader reader(output_, /*max_bytes=*/4096);
  while (grpc_address_.empty()) {
    const absl::StatusOr<std::optional<std::string>> line = reader.Next();
    if (!line.ok() || !line->has_value()) break;
    grpc_address_ = AddressIn(**line, " grpc=");
    http_address_ = AddressIn(**line, " http=");
  }
}

ServerProcess::~ServerProcess() {
  if (pid_ > 0) Stop();
  close(output_);
}

void ServerProcess::Kill() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

int ServerProcess::Stop() {
  kill(pid_, SIGTERM);
  int status = 0;
  const bool ended = waitpid(pid_, &status, 0) == pid_;
  pid_ = -1;
  return ended && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace dragoman
