// A directory for a test, which is removed at its end: in memory, if the machine has such files, so
// that bringing them to the disk costs nothing.

#ifndef DRAGOMAN_TESTS_SERVER_RAM_DIRECTORY_H_
#define DRAGOMAN_TESTS_SERVER_RAM_DIRECTORY_H_

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "gtest/gtest.h"

namespace dragoman {

class RamDirectory {
 public:
  RamDirectory() {
    path_ = (access("/dev/shm", W_OK) == 0 ? "/dev/shm" : testing::TempDir()) + "/test-XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << "no directory " << path_;
  }
  RamDirectory(const RamDirectory&) = delete;
  RamDirectory& operator=(const RamDirectory&) = delete;
  ~RamDirectory() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_SERVER_RAM_DIRECTORY_H_
