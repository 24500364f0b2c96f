#include "server/base/spool.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

absl::Status Failed(const std::string& what) {
  return UnavailableError("cannot keep a document: ", what, ": ", std::strerror(errno));
}

absl::StatusOr<int> NewFile() {
  const char* const set = std::getenv("TMPDIR");
  const std::string directory = set == nullptr || *set == '\0' ? "/tmp" : set;
  int fd = open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {  // not on every file system
    std::string name = directory + "/dragoman-XXXXXX";
    fd = mkostemp(name.data(), O_CLOEXEC);
    if (fd >= 0) unlink(name.c_str());
  }
  if (fd < 0) return Failed(directory);
  return fd;
}

absl::Status WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Failed("write");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<Spool>> Spool::New(size_t expected, Share share) {
  const bool in_memory = expected <= kInMemory;
  int fd = -1;
  if (in_memory) {
    fd = memfd_create("dragoman-document", MFD_CLOEXEC);
    if (fd < 0) return Failed("memfd_create");
  } else {
    ASSIGN_OR_RETURN(fd, NewFile());
  }
  return std::shared_ptr<Spool>(new Spool(fd, in_memory, std::move(share)));
}

Spool::~Spool() { close(fd_); }

absl::Status Spool::Append(std::string_view bytes) {
  RETURN_IF_ERROR(share_.Raise(size() + bytes.size()));
  if (in_memory_ && size() + bytes.size() > kInMemory) RETURN_IF_ERROR(MoveToDisk());
  return WriteAll(fd_, bytes);
}

absl::Status Spool::MoveToDisk() {
  ASSIGN_OR_RETURN(const std::string bytes, Read(0, size()));
  ASSIGN_OR_RETURN(const int file, NewFile());
  close(std::exchange(fd_, file));
  in_memory_ = false;
  return WriteAll(fd_, bytes);
}

std::string Spool::path() const { return absl::StrCat("/proc/self/fd/", fd_); }

size_t Spool::size() const {
  struct stat status = {};
  return fstat(fd_, &status) == 0 ? static_cast<size_t>(status.st_size) : 0;
}

absl::StatusOr<std::string> Spool::Read(size_t offset, size_t most) const {
  std::string bytes(std::min(most, size() - std::min(offset, size())), '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t read =
        pread(fd_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) return Failed("read");
    if (read == 0) break;
    done += static_cast<size_t>(read);
  }
  bytes.resize(done);
  return bytes;
}

}  // namespace dragoman
