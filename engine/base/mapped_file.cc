#include "engine/base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

absl::Status ErrnoStatus(const std::string& path, const char* action) {
  const int error = errno;
  const std::string message = path + ": cannot " + action + ": " + std::strerror(error);
  return error == ENOENT || error == ENOTDIR ? absl::NotFoundError(message)
                                             : absl::FailedPreconditionError(message);
}

absl::StatusOr<absl::Span<const std::byte>> Map(int fd, const std::string& path) {
  struct stat info;
  if (fstat(fd, &info) != 0) return ErrnoStatus(path, "stat");
  if (!S_ISREG(info.st_mode)) {
    return absl::FailedPreconditionError(path + ": not a regular file");
  }
  const size_t size = static_cast<size_t>(info.st_size);
  if (size == 0) return absl::Span<const std::byte>();
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) return ErrnoStatus(path, "map");
  madvise(data, size, MADV_WILLNEED);  // only a hint: read ahead
  return absl::Span<const std::byte>(static_cast<const std::byte*>(data), size);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const MappedFile>> MappedFile::Open(const std::string& path) {
  // O_NONBLOCK: to open a pipe must not wait for its other end.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return ErrnoStatus(path, "open");
  absl::StatusOr<absl::Span<const std::byte>> bytes = Map(fd, path);
  close(fd);
  if (!bytes.ok()) return bytes.status();
  return std::shared_ptr<const MappedFile>(new MappedFile(*bytes));
}

void MappedFile::Forget(absl::Span<const std::byte> part) const {
  // Of any other memory this would erase the content.
  DRAGOMAN_CHECK(part.empty() || Holds(part));
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(part.data()) + page - 1) / page * page;
  const uintptr_t end = reinterpret_cast<uintptr_t>(part.data() + part.size()) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace dragoman
