// A file in memory, for functions that take a path.

#ifndef DRAGOMAN_TESTS_FUZZ_MEMORY_FILE_H_
#define DRAGOMAN_TESTS_FUZZ_MEMORY_FILE_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/fuzz/fuzzer.h"

namespace dragoman {

class MemoryFile {
 public:
  MemoryFile(const uint8_t* data, size_t size) : fd_(memfd_create("fuzz", MFD_CLOEXEC)) {
    FUZZ_CHECK(fd_ >= 0);
    while (size > 0) {
      const ssize_t written = write(fd_, data, size);
      FUZZ_CHECK(written > 0);
      data += written;
      size -= static_cast<size_t>(written);
    }
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  const int fd_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_FUZZ_MEMORY_FILE_H_
