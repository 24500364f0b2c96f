#include "server/auth/file_watch.h"

#include <utility>

#include "engine/base/status.h"
#include "server/observe/logging.h"

namespace dragoman {

FileWatch::FileWatch(const std::string& what, const std::vector<std::string>& paths, Read read,
                     const WatchOptions& options)
    : what_(what), paths_(paths), read_(std::move(read)), options_(options) {
  std::erase(paths_, std::string());
}

absl::StatusOr<std::unique_ptr<FileWatch>> FileWatch::Start(const std::string& what,
                                                            const std::vector<std::string>& paths,
                                                            Read read,
                                                            const WatchOptions& options) {
  std::unique_ptr<FileWatch> watch(new FileWatch(what, paths, std::move(read), options));
  RETURN_IF_ERROR(watch->ReadAll());
  watch->thread_ = std::thread([watch = watch.get()] { watch->Watch(); });
  return watch;
}

FileWatch::~FileWatch() {
  {
    absl::MutexLock lock(&mutex_);
    closing_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

void FileWatch::ReadAgain() {
  absl::MutexLock lock(&mutex_);
  asked_ = true;
}

std::vector<FileVersion> FileWatch::CurrentVersions() const {
  std::vector<FileVersion> versions;
  for (const std::string& path : paths_) versions.push_back(VersionOf(path));
  return versions;
}

// Files that change while they are read may not match: a key, and the certificate of another.  The
// result only counts if the files did not change meanwhile.
absl::Status FileWatch::ReadAll() {
  constexpr int kTries = 10;
  for (int i = 0; i < kTries; ++i) {
    versions_ = CurrentVersions();
    status_ = read_();
    if (status_.ok() || CurrentVersions() == versions_) break;
  }
  options_.on_read(status_);
  return status_;
}

void FileWatch::Watch() {
  const auto called = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return closing_ || asked_; };
  while (true) {
    bool asked = false;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.AwaitWithTimeout(absl::Condition(&called), options_.interval);
      if (closing_) return;
      asked = std::exchange(asked_, false);
    }
    if (asked || !status_.ok() || CurrentVersions() != versions_) Reload();
  }
}

void FileWatch::Reload() {
  const absl::Status before = status_;
  if (const absl::Status status = ReadAll(); status.ok()) {
    Log(LogLevel::kInfo, what_ + " reloaded");
  } else if (status != before) {  // not the same line every second
    Log(LogLevel::kError, what_ + " not reloaded: the old ones stay in use",
        {{"error", std::string(status.message())}});
  }
}

}  // namespace dragoman
