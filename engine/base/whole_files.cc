#include "engine/base/whole_files.h"

namespace dragoman {

void WholeFiles::Remember(const std::string& path, const FileVersion& version, absl::Time now) {
  for (const auto& time : {version.modified, version.changed}) {
    if (absl::FromUnixSeconds(time[0]) > now - kStep) return;
  }
  absl::MutexLock lock(&mutex_);
  versions_[path] = version;
}

bool WholeFiles::Has(const std::string& path, const FileVersion& version) const {
  absl::MutexLock lock(&mutex_);
  const auto known = versions_.find(path);
  return known != versions_.end() && known->second == version;
}

}  // namespace dragoman
