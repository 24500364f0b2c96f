#include "client/partial_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

absl::Status DirectoryFailed(const std::string& path, const std::string& why) {
  return absl::FailedPreconditionError(absl::StrCat(path, ": ", why));
}

}  // namespace

PartialDirectory::PartialDirectory(std::string name, int fd)
    : name_(std::move(name)), path_(name_ + ".partial"), fd_(fd) {}

PartialDirectory::~PartialDirectory() { close(fd_); }

absl::StatusOr<std::unique_ptr<PartialDirectory>> PartialDirectory::Open(const std::string& name) {
  const std::string path = name + ".partial";
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return DirectoryFailed(path, error.message());
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return DirectoryFailed(path, std::strerror(errno));
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    close(fd);
    return DirectoryFailed(path, "another process is using it");
  }
  return std::unique_ptr<PartialDirectory>(new PartialDirectory(name, fd));
}

absl::Status PartialDirectory::KeepOnly(const std::vector<std::string>& names) const {
  std::vector<fs::path> others;
  std::error_code error;
  for (fs::directory_iterator it(path_, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (std::find(names.begin(), names.end(), name) == names.end()) others.push_back(it->path());
  }
  for (const fs::path& other : others) {
    if (!error) fs::remove_all(other, error);
  }
  return error ? DirectoryFailed(path_, error.message()) : absl::OkStatus();
}

absl::Status PartialDirectory::Publish() const {
  fsync(fd_);
  std::error_code error;
  const bool exists = fs::exists(fs::symlink_status(name_, error));
  if (renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, name_.c_str(),
                exists ? RENAME_EXCHANGE : RENAME_NOREPLACE) != 0) {
    return DirectoryFailed(name_, absl::StrCat("cannot be put in place: ", std::strerror(errno)));
  }
  if (!exists) return absl::OkStatus();
  fs::remove_all(path_, error);
  return error ? DirectoryFailed(path_, error.message()) : absl::OkStatus();
}

}  // namespace dragoman
