#include "client/partial_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

constexpr char kPartial[] = ".partial";

absl::Status DirectoryFailed(const std::string& path, const std::string& why) {
  return FailedPreconditionError(path, ": ", why);
}

}  // namespace

PartialDirectory::PartialDirectory(std::string name, int fd)
    : name_(std::move(name)),
      around_(name_ + kPartial),
      path_((fs::path(around_) / fs::path(name_).filename()).string()),
      fd_(fd) {}

PartialDirectory::~PartialDirectory() { close(fd_); }

absl::StatusOr<std::unique_ptr<PartialDirectory>> PartialDirectory::Open(const std::string& name) {
  const std::string around = name + kPartial;
  std::error_code error;
  fs::create_directories(around, error);
  if (error) return DirectoryFailed(around, error.message());
  const int fd = open(around.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return DirectoryFailed(around, std::strerror(errno));
  std::unique_ptr<PartialDirectory> partial(new PartialDirectory(name, fd));
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    return DirectoryFailed(around, "another process is using it");
  }
  fs::create_directory(partial->path_, error);
  if (error) return DirectoryFailed(partial->path_, error.message());
  return partial;
}

absl::Status PartialDirectory::Clear(const std::string& name) {
  std::error_code error;
  if (!fs::exists(name + kPartial, error)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::unique_ptr<PartialDirectory> left, Open(name));
  return left->Remove();
}

absl::Status PartialDirectory::KeepOnly(const std::vector<std::string>& names) const {
  std::vector<fs::path> others;
  std::error_code error;
  for (fs::directory_iterator it(path_, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!absl::c_linear_search(names, name)) others.push_back(it->path());
  }
  for (const fs::path& other : others) {
    if (!error) fs::remove_all(other, error);
  }
  return error ? DirectoryFailed(path_, error.message()) : absl::OkStatus();
}

absl::Status PartialDirectory::Publish() const {
  const int fd = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return DirectoryFailed(path_, std::strerror(errno));
  fsync(fd);
  close(fd);
  std::error_code error;
  const bool exists = fs::exists(fs::symlink_status(name_, error));
  if (renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, name_.c_str(),
                exists ? RENAME_EXCHANGE : RENAME_NOREPLACE) != 0) {
    return DirectoryFailed(name_, absl::StrCat("cannot be put in place: ", std::strerror(errno)));
  }
  return Remove();
}

absl::Status PartialDirectory::Remove() const {
  std::error_code error;
  fs::remove_all(around_, error);
  return error ? DirectoryFailed(around_, error.message()) : absl::OkStatus();
}

}  // namespace dragoman
