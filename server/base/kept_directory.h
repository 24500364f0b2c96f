// A directory of files that survive a crash before each step of a write.
//
// A file is never changed: a new one is written beside it under another name, brought to the disk,
// and renamed.  Whenever a process or a machine stops, each file is what it was or what it was to
// become; a name that was not renamed is ignored, and removed when the directory is opened again.
// The one exception is Append, after which a reader must be able to tell whether all of it is
// there. Others may put files there in the same way, or remove them.
//
// Thread-compatible.

#ifndef DRAGOMAN_SERVER_BASE_KEPT_DIRECTORY_H_
#define DRAGOMAN_SERVER_BASE_KEPT_DIRECTORY_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/file_version.h"

namespace dragoman {

// A UUID of version 4.
std::string NewUuid();

// Whether a name cannot lead out of a directory, or hide in it.
bool IsPlainName(std::string_view name);

class KeptDirectory {
 public:
  // `kept` is what error messages call a file: "glossary".  `on_step` is called before each step of
  // a write; a test ends there.
  KeptDirectory(std::string path, std::string kept, std::function<void()> on_step)
      : path_(std::move(path)), kept_(std::move(kept)), on_step_(std::move(on_step)) {}

  const std::string& path() const { return path_; }
  std::string PathOf(const std::string& name) const { return path_ + "/" + name; }
  // UNAVAILABLE if the directory cannot be read, which does not mean that it is empty.
  absl::StatusOr<FileVersions> Files() const;

  // Creates it if it does not exist, and removes what was not finished.
  absl::Status Open() const;
  // UNAVAILABLE if it cannot be read.
  absl::StatusOr<std::string> Read(const std::string& name) const;

  // UNAVAILABLE if it cannot be written.
  absl::Status Write(const std::string& name, std::string_view text) const;
  // Puts the text after the first `size` bytes of a file, and brings it to the disk.  What came
  // after them was not finished, and is gone.
  absl::Status Append(const std::string& name, size_t size, std::string_view text) const;
  absl::Status Remove(const std::string& name) const;

 private:
  absl::Status NotStored(const std::string& what) const;
  absl::Status WriteAll(int fd, std::string_view text) const;
  absl::Status Keep() const;
  void Step() const {
    if (on_step_ != nullptr) on_step_();
  }

  const std::string path_, kept_;
  const std::function<void()> on_step_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_BASE_KEPT_DIRECTORY_H_
