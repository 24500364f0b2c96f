#include "engine/base/mapped_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

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
    return FailedPreconditionError(path, ": not a regular file");
  }
  const size_t size = static_cast<size_t>(info.st_size);
  if (size == 0) return absl::Span<const std::byte>();
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) return ErrnoStatus(path, "map");
  madvise(data, size, MADV_WILLNEED);  // a hint to read ahead
  return absl::Span<const std::byte>(static_cast<const std::byte*>(data), size);
}

// The mappings for which SIGBUS is handled.  A signal handler may take no lock, so they are kept in
// an array of atomics.  Files beyond its size have no guard.
struct Guard {
  std::atomic<bool> taken = false;
  std::atomic<uintptr_t> begin = 0, end = 0;  // 0: no mapping yet
  std::atomic<bool> cut = false;
};
constexpr int kGuards = 1024;
Guard guards[kGuards];
struct sigaction former;  // the previous handler of SIGBUS

// Maps a page of zeros where the file has no bytes, and lets the reader continue.
void OnBusError(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  for (Guard& guard : guards) {
    if (address < guard.begin.load() || address >= guard.end.load()) continue;
    static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    guard.cut = true;
    if (mmap(reinterpret_cast<void*>(address / page * page), page, PROT_READ,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED) {
      return;
    }
  }
  sigaction(SIGBUS, &former,
            nullptr);  // the instruction runs again, and the previous handler decides
}

void CatchBusErrors() {
  static const bool caught = [] {
    struct sigaction action = {};
    action.sa_sigaction = OnBusError;
    action.sa_flags = SA_SIGINFO;
    return sigaction(SIGBUS, &action, &former) == 0;
  }();
  (void)caught;
}

int TakeGuard(absl::Span<const std::byte> bytes) {
  CatchBusErrors();
  for (int i = 0; i < kGuards && !bytes.empty(); ++i) {
    if (guards[i].taken.exchange(true)) continue;
    guards[i].cut = false;
    guards[i].begin = reinterpret_cast<uintptr_t>(bytes.data());
    guards[i].end = reinterpret_cast<uintptr_t>(bytes.data() + bytes.size());
    return i;
  }
  return -1;
}

void ReleaseGuard(int guard) {
  if (guard < 0) return;
  guards[guard].end = 0;
  guards[guard].begin = 0;
  guards[guard].taken = false;
}

}  // namespace

MappedFile::MappedFile(std::string path, absl::Span<const std::byte> bytes)
    : path_(std::move(path)), bytes_(bytes), guard_(TakeGuard(bytes)) {}

absl::Status MappedFile::whole() const {
  if (guard_ < 0 || !guards[guard_].cut) return absl::OkStatus();
  return FailedPreconditionError(path_, ": was cut short while it was read");
}

absl::StatusOr<std::shared_ptr<const MappedFile>> MappedFile::Open(const std::string& path) {
  // O_NONBLOCK: opening a pipe must not wait for its other end.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return ErrnoStatus(path, "open");
  absl::StatusOr<absl::Span<const std::byte>> bytes = Map(fd, path);
  close(fd);
  if (!bytes.ok()) return bytes.status();
  return std::shared_ptr<const MappedFile>(new MappedFile(path, *bytes));
}

void MappedFile::Forget(absl::Span<const std::byte> part) const {
  // On any other memory this would erase the content.
  DRAGOMAN_CHECK(part.empty() || Holds(part));
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(part.data()) + page - 1) / page * page;
  const uintptr_t end = reinterpret_cast<uintptr_t>(part.data() + part.size()) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  ReleaseGuard(guard_);
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace dragoman
