// Reads files again when they change, so that certificates and tokens can be renewed without a
// restart.  Models and the config file change less often, and take long to load: ModelManager,
// which looks at them, has a thread of its own.
//
// Who reads a file must keep what it has if the new content cannot be used.  Such files are then
// read again and again until they can be.

#ifndef DRAGOMAN_SERVER_AUTH_FILE_WATCHER_H_
#define DRAGOMAN_SERVER_AUTH_FILE_WATCHER_H_

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/base/file_version.h"
#include "engine/base/not_copyable.h"

namespace dragoman {

struct WatchedFiles {
  std::string what;                // their name in the log: "tokens"
  std::vector<std::string> paths;  // or directories of files; empty ones are ignored
  // Takes over the content of the files, or says what is wrong with them and changes nothing.
  std::function<absl::Status()> read;
  // Whether the first reading may fail, too: the log then says so, and it is tried again.
  bool may_fail = false;
  // Called with the result each time the files were read, including the first time.
  std::function<void(const absl::Status&)> on_read;
};

class FileWatcher : private NotCopyable {
 public:
  // Nothing is read any more.
  ~FileWatcher();

  // Reads the files, and fails if that fails and may not.  REQUIRES: not started.
  absl::Status Add(WatchedFiles files);

  // From now on looks at the files again and again, on a separate thread.
  void Start(absl::Duration interval = absl::Seconds(1));

  // Reads all files soon, whether or not they have changed.
  void ReadAgain();

  // Reads `all` files, or those that have changed or could not be read.  REQUIRES: not started.
  void Look(bool all = false);

 private:
  struct Entry {
    WatchedFiles files;
    std::vector<FileVersions> versions;  // that were read last
    absl::Status status;                 // and the result
  };
  static void Read(Entry* entry);
  void Run(absl::Duration interval);

  std::vector<Entry> entries_;  // used by the thread, once there is one

  absl::Mutex mutex_;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  bool asked_ ABSL_GUARDED_BY(mutex_) = false;  // to read again
  std::thread thread_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_AUTH_FILE_WATCHER_H_
