// Files that are read again when they change, so that certificates and tokens can be renewed
// without a restart.
//
// The reader must keep what it has if the new content cannot be used.  Such files are then read
// again and again until they can be.

#ifndef DRAGOMAN_SERVER_AUTH_FILE_WATCH_H_
#define DRAGOMAN_SERVER_AUTH_FILE_WATCH_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/base/file_version.h"

namespace dragoman {

struct WatchOptions {
  absl::Duration interval = absl::Seconds(1);
  // Called with the result each time the files were read, including the first time.
  std::function<void(const absl::Status&)> on_read = [](const absl::Status&) {};
};

class FileWatch {
 public:
  // Takes over the content of the files, or says what is wrong with them and changes nothing.
  using Read = std::function<absl::Status()>;

  // Reads the files, and fails if that fails.  Then checks them every interval, on a separate
  // thread, and reads them if one has changed or the last reading failed.  `what` is their name in
  // the log: "tokens".  Empty paths are ignored.
  static absl::StatusOr<std::unique_ptr<FileWatch>> Start(const std::string& what,
                                                          const std::vector<std::string>& paths,
                                                          Read read, const WatchOptions& options);
  // Nothing is read any more.
  ~FileWatch();
  // Reads the files soon, whether or not they have changed.
  void ReadAgain();

  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

 private:
  FileWatch(const std::string& what, const std::vector<std::string>& paths, Read read,
            const WatchOptions& options);
  std::vector<FileVersion> CurrentVersions() const;
  absl::Status ReadAll();
  void Watch();
  void Reload();

  const std::string what_;
  std::vector<std::string> paths_;
  const Read read_;
  const WatchOptions options_;
  // Used by the thread.
  std::vector<FileVersion> versions_;  // that were read last
  absl::Status status_;                // and the result

  absl::Mutex mutex_;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  bool asked_ ABSL_GUARDED_BY(mutex_) = false;  // to read again
  std::thread thread_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_AUTH_FILE_WATCH_H_
