#include "server/net/process_limits.h"

#include <signal.h>
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

#include "absl/strings/str_cat.h"

namespace dragoman {
namespace {

constexpr int64_t kLeastDescriptors = 128;

// A line of text that is assembled without allocating: there may be no memory left.
class Message {
 public:
  Message& operator<<(const char* text) {
    const size_t size = std::min(std::strlen(text), sizeof(text_) - size_);
    std::memcpy(text_ + size_, text, size);
    size_ += size;
    return *this;
  }
  Message& operator<<(uint64_t number) {
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

void AddLimit(const char* name, decltype(RLIMIT_AS) resource, Message* message) {
  rlimit limit;
  *message << name << " ";
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    *message << "unlimited";
  } else {
    *message << limit.rlim_cur;
  }
}

[[noreturn]] void EndWith(const char* what, const char* detail) {
  Message message;
  message << "dragoman-server: " << what << detail << "; the limits are ";
  AddLimit("bytes of memory (ulimit -v)", RLIMIT_AS, &message);
  AddLimit(", threads (ulimit -u)", RLIMIT_NPROC, &message);
  AddLimit(", open files (ulimit -n)", RLIMIT_NOFILE, &message);
  message << "\n";
  message.Print();
  _exit(EXIT_FAILURE);
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
    return absl::FailedPreconditionError(absl::StrCat(
        "open files are limited to ", limit, " (ulimit -n), want at least ", kLeastDescriptors));
  }
  const int reserve = static_cast<int>(std::clamp<int64_t>(limit / 4, 64, 512));
  return DescriptorPlan{.reserve = reserve, .connections = static_cast<int>(limit) - reserve};
}

void ExplainExhaustion() { std::set_terminate(OnTerminate); }

ExplainAborts::ExplainAborts() { signal(SIGABRT, OnAbort); }
ExplainAborts::~ExplainAborts() { signal(SIGABRT, SIG_DFL); }

}  // namespace dragoman
