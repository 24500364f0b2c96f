// Remembers which files were read to their ends and found whole, so that they need not be read so
// again.

#ifndef DRAGOMAN_ENGINE_BASE_WHOLE_FILES_H_
#define DRAGOMAN_ENGINE_BASE_WHOLE_FILES_H_

#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/base/file_version.h"

namespace dragoman {

// Which versions of files were found whole.  A file that changed just now may change again without
// a trace, because its times have steps of some milliseconds: it is not remembered.  Thread-safe.
class WholeFiles {
 public:
  static constexpr absl::Duration kStep = absl::Seconds(2);

  // REQUIRES: this version was read at `now` or later.
  void Remember(const std::string& path, const FileVersion& version, absl::Time now);
  bool Has(const std::string& path, const FileVersion& version) const;

 private:
  mutable absl::Mutex mutex_;
  std::map<std::string, FileVersion> versions_ ABSL_GUARDED_BY(mutex_);  // by path
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_WHOLE_FILES_H_
