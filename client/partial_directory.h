// A directory that appears as a whole or not at all: its files are collected in NAME.partial, in a
// directory of the same name, which takes the place of NAME at the end.  After an interruption
// NAME.partial still holds what was collected.

#ifndef DRAGOMAN_CLIENT_PARTIAL_DIRECTORY_H_
#define DRAGOMAN_CLIENT_PARTIAL_DIRECTORY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/not_copyable.h"

namespace dragoman {

class PartialDirectory : private NotCopyable {
 public:
  // Creates NAME.partial, or continues with the existing one.  FAILED_PRECONDITION if that is
  // impossible, or if another process is using it.
  static absl::StatusOr<std::unique_ptr<PartialDirectory>> Open(const std::string& name);

  ~PartialDirectory();

  // Removes what an interrupted process left, if it did.  The errors are those of Open.
  static absl::Status Clear(const std::string& name);

  // Where the files are collected: "models/en-de.partial/en-de".  Its last part is that of NAME,
  // because the name of a model's directory may tell its languages.
  const std::string& path() const { return path_; }
  std::string Path(const std::string& file) const { return path_ + "/" + file; }

  // Removes the files that are not among `names`, such as those of an older revision.
  absl::Status KeepOnly(const std::vector<std::string>& names) const;

  // Gives the directory its final name.  An existing one is replaced atomically and then removed.
  absl::Status Publish() const;

 private:
  PartialDirectory(std::string name, int fd);
  absl::Status Remove() const;

  const std::string name_;
  const std::string around_;  // NAME.partial
  const std::string path_;
  const int fd_;  // of NAME.partial; holds the lock
};

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_PARTIAL_DIRECTORY_H_
