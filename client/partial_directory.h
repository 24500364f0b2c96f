// A directory that appears whole or not at all: its files are gathered in NAME.partial, and one
// rename gives it its name.  Who was stopped finds in NAME.partial what is there already.

#ifndef DRAGOMAN_CLIENT_PARTIAL_DIRECTORY_H_
#define DRAGOMAN_CLIENT_PARTIAL_DIRECTORY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dragoman {

class PartialDirectory {
 public:
  // Makes NAME.partial, or takes up the one that is there.  FAILED_PRECONDITION if that cannot be,
  // or if another process is at work in it.
  static absl::StatusOr<std::unique_ptr<PartialDirectory>> Open(const std::string& name);

  ~PartialDirectory();
  PartialDirectory(const PartialDirectory&) = delete;
  PartialDirectory& operator=(const PartialDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string Path(const std::string& file) const { return path_ + "/" + file; }

  // Removes the files that are not among `names`, such as those of an older revision.
  absl::Status KeepOnly(const std::vector<std::string>& names) const;

  // Gives the directory its name.  What has it now changes places with it at one stroke and is
  // removed.
  absl::Status Publish() const;

 private:
  PartialDirectory(std::string name, int fd);

  const std::string name_;
  const std::string path_;
  const int fd_;  // holds the lock
};

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_PARTIAL_DIRECTORY_H_
