#include "server/store/file_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "absl/algorithm/container.h"
#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr size_t kMostBytes = 256 << 20;

absl::Status Failed(const std::string& name) {
  return UnavailableError(name, ": ", std::strerror(errno));
}

}  // namespace

bool IsPlainName(std::string_view name) {
  return !name.empty() && name.size() <= 128 && name[0] != '.' && absl::c_all_of(name, [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
  });
}

absl::Status CheckDirectory(const std::string& directory) {
  struct stat status = {};
  if (stat(directory.c_str(), &status) != 0) {
    return InvalidArgumentError(directory, ": ", std::strerror(errno));
  }
  if (S_ISDIR(status.st_mode)) return absl::OkStatus();
  return InvalidArgumentError(directory, ": is no directory");
}

absl::StatusOr<FileVersions> FilesIn(const std::string& directory) {
  errno = 0;
  FileVersions files = VersionsIn(directory);
  if (!files.contains("")) return files;
  return UnavailableError("cannot read ", directory, ": ", std::strerror(errno));
}

absl::StatusOr<std::string> ReadFileIn(const std::string& directory, const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path root = fs::canonical(directory, error);
  const fs::path path = error ? fs::path() : fs::canonical(root / name, error);
  if (error) return UnavailableError(name, ": ", error.message());
  if (std::mismatch(root.begin(), root.end(), path.begin(), path.end()).first != root.end()) {
    return FailedPreconditionError(name, ": leads out of the directory");
  }
  // A pipe is not waited for.
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (file < 0) return Failed(name);
  const absl::Cleanup close_file = [file] { close(file); };
  struct stat status = {};
  if (fstat(file, &status) != 0) return Failed(name);
  if (!S_ISREG(status.st_mode)) {
    return FailedPreconditionError(name, ": is no regular file");
  }
  std::string text, piece(64 << 10, '\0');
  while (text.size() <= kMostBytes) {
    const ssize_t size = read(file, piece.data(), piece.size());
    if (size == 0) return text;
    if (size > 0) text.append(piece, 0, static_cast<size_t>(size));
    if (size < 0 && errno != EINTR) return Failed(name);
  }
  return FailedPreconditionError(name, ": is larger than ", kMostBytes, " bytes");
}

}  // namespace dragoman
