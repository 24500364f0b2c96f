#include "client/server_check.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

namespace dragoman {
namespace {

namespace fs = std::filesystem;

// In the same directory, as it is installed, or in that of the server, as it is built; otherwise
// its name alone, for the PATH.
std::string ServerProgram() {
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& path : {here / "dragoman-server", here / "../server/dragoman-server"}) {
    if (!error && access(path.c_str(), X_OK) == 0) return path.string();
  }
  return "dragoman-server";
}

}  // namespace

std::optional<ServerCheck> CheckWithServer(const std::string& directory, bool without_weights) {
  std::string program = ServerProgram(), check = "--check=" + directory;
  std::string partly = "--without-weights";
  std::vector<char*> arguments = {program.data(), check.data()};
  if (without_weights) arguments.push_back(partly.data());
  arguments.push_back(nullptr);
  int out[2];
  if (pipe2(out, O_CLOEXEC) != 0) return std::nullopt;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDERR_FILENO);
  pid_t child = 0;
  const int spawned =
      posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(out[1]);
  ServerCheck result;
  char buffer[4096];
  for (ssize_t size; (size = read(out[0], buffer, sizeof(buffer))) != 0;) {
    if (size < 0 && errno != EINTR) break;
    if (size > 0) result.report.append(buffer, static_cast<size_t>(size));
  }
  close(out[0]);
  if (spawned != 0) return std::nullopt;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) == 127) return std::nullopt;
  result.servable = WEXITSTATUS(status) == 0;
  return result;
}

}  // namespace dragoman
