#include "server/net/process_limits.h"

#include <execinfo.h>
#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr int64_t kLeastDescriptors = 128;

// A line of text that is assembled without allocating: there may be no memory left.
class LastWords {
 public:
  LastWords& operator<<(const char* text) {
    const size_t size = std::min(std::strlen(text), sizeof(text_) - size_);
    std::memcpy(text_ + size_, text, size);
    size_ += size;
    return *this;
  }
  LastWords& operator<<(uint64_t number) {
    char digits[24] = {};
    std::to_chars(digits, digits + sizeof(digits) - 1, number);
    return *this << digits;
  }
  void Print() const {
    if (write(STDERR_FILENO, text_, size_) < 0) return;  // nobody can read it
  }

 private:
  char text_[512];
  size_t size_ = 0;
};

rlim_t ResourceLimit(decltype(RLIMIT_AS) resource) {
  rlimit limit;
  return getrlimit(resource, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

void AddLimit(const char* name, decltype(RLIMIT_AS) resource, LastWords* message) {
  *message << name << " ";
  if (ResourceLimit(resource) == RLIM_INFINITY) {
    *message << "unlimited";
  } else {
    *message << ResourceLimit(resource);
  }
}

[[noreturn]] void EndWith(const char* what, const char* detail) {
  LastWords message;
  message << "dragoman-server: " << what << detail << "; the limits are ";
  AddLimit("bytes of memory (ulimit -v)", RLIMIT_AS, &message);
  AddLimit(", threads (ulimit -u)", RLIMIT_NPROC, &message);
  AddLimit(", open files (ulimit -n)", RLIMIT_NOFILE, &message);
  message << "\n";
  message.Print();
  _exit(EXIT_FAILURE);
}

// Called when operator new gets no memory.
void OnNoMemory() {
  constexpr size_t kSome = size_t{1} << 20;
  void* const some =
      mmap(nullptr, kSome, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (some == MAP_FAILED) EndWith("out of memory", "");
  munmap(some, kSome);
  throw std::bad_alloc();  // it was too much at once
}

void OnTerminate() {
  if (const std::exception_ptr thrown = std::current_exception(); thrown != nullptr) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
      EndWith("out of memory", "");
    } catch (const std::system_error& error) {
      if (error.code() == std::errc::resource_unavailable_try_again) {
        EndWith("cannot start a thread: ", error.what());
      }
    } catch (...) {
    }
  }
  std::abort();
}

void OnAbort(int) {
  EndWith("a library gave up at the start", ": it got no memory, thread or descriptor");
}

}  // namespace

absl::StatusOr<DescriptorPlan> PlanDescriptors() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return absl::InternalError("getrlimit failed");
  const rlimit raised = {limit.rlim_max, limit.rlim_max};
  // The hard limit may exceed what the kernel permits (fs.nr_open): then the present limit must do.
  if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  const rlim_t most = std::numeric_limits<int>::max();
  return PlanDescriptors(static_cast<int64_t>(std::min(limit.rlim_cur, most)));
}

absl::StatusOr<DescriptorPlan> PlanDescriptors(int64_t limit) {
  if (limit < kLeastDescriptors) {
    return FailedPreconditionError("open files are limited to ", limit,
                                   " (ulimit -n), want at least ", kLeastDescriptors);
  }
  const int reserve = static_cast<int>(std::clamp<int64_t>(limit / 4, 64, 512));
  return DescriptorPlan{.reserve = reserve, .connections = static_cast<int>(limit) - reserve};
}

void ExplainExhaustion() {
  std::set_terminate(OnTerminate);
  std::set_new_handler(OnNoMemory);
  // The C library loads what unwinds its own functions when it first needs it, and aborts if there
  // is no memory left by then.
  void* frame = nullptr;
  backtrace(&frame, 1);
}

void SaveAddressSpace() {
  if (ResourceLimit(RLIMIT_AS) != RLIM_INFINITY) mallopt(M_ARENA_MAX, 1);
}

absl::Status CheckHeadroom(size_t bytes, int threads) {
  absl::Notification checked;
  std::vector<std::thread> running;
  try {
    while (static_cast<int>(running.size()) < threads) {
      running.emplace_back([&checked] { checked.WaitForNotification(); });
    }
  } catch (const std::system_error&) {  // too few of them: see below
  }
  // Beside their stacks.  It is reserved and not touched, so only the limit can forbid it.
  void* const reserved =
      mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  const bool enough = reserved != MAP_FAILED;
  if (enough) munmap(reserved, bytes);
  checked.Notify();
  for (std::thread& thread : running) thread.join();
  if (!enough) {
    return FailedPreconditionError(
        "memory is limited to ", ResourceLimit(RLIMIT_AS), " bytes (ulimit -v), and less than ",
        bytes, " are left for requests; raise it, or lower kv-cache-bytes or workers");
  }
  if (static_cast<int>(running.size()) == threads) return absl::OkStatus();
  return FailedPreconditionError("threads are limited to ", ResourceLimit(RLIMIT_NPROC),
                                 " (ulimit -u), and only ", running.size(), " of ", threads,
                                 " can be started that requests may need");
}

ExplainAborts::ExplainAborts() { signal(SIGABRT, OnAbort); }
ExplainAborts::~ExplainAborts() { signal(SIGABRT, SIG_DFL); }

}  // namespace dragoman
