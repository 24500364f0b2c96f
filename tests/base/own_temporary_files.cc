// A directory for the temporary files of a test's process, in the place of /tmp, which is removed
// with all that is left in it when the process ends.

#include <sys/types.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace dragoman {
namespace {

class OwnTemporaryFiles {
 public:
  OwnTemporaryFiles()
      : path_((std::filesystem::temp_directory_path() / "dragoman-test-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) {
      path_.clear();
      return;
    }
    setenv("TEST_TMPDIR", path_.c_str(), 1);  // of testing::TempDir
    setenv("TMPDIR", path_.c_str(), 1);
  }

  ~OwnTemporaryFiles() {
    if (path_.empty() || getpid() != owner_) return;  // a death test's process needs them still
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }

 private:
  const pid_t owner_ = getpid();
  std::string path_;
};

const OwnTemporaryFiles own_temporary_files;

}  // namespace
}  // namespace dragoman
