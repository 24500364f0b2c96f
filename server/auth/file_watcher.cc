#include "server/auth/file_watcher.h"

#include <utility>

#include "engine/base/end_thread.h"
#include "server/observe/logging.h"

namespace dragoman {
namespace {

std::vector<FileVersions> VersionsOf(const WatchedFiles& files) {
  std::vector<FileVersions> versions;
  for (const std::string& path : files.paths) {
    if (!path.empty()) versions.push_back(VersionsIn(path));
  }
  return versions;
}

}  // namespace

FileWatcher::~FileWatcher() { EndThread(&mutex_, &closing_, &thread_); }

absl::Status FileWatcher::Add(WatchedFiles files) {
  Entry entry = {.files = std::move(files)};
  Read(&entry);
  absl::Status status = entry.status;
  if (!status.ok() && entry.files.may_fail) {
    Log(LogLevel::kError, entry.files.what + " not all loaded",
        {{"error", std::string(status.message())}});
    status = absl::OkStatus();
  }
  if (status.ok()) entries_.push_back(std::move(entry));
  return status;
}

void FileWatcher::Start(absl::Duration interval) {
  if (!entries_.empty()) thread_ = std::thread([this, interval] { Run(interval); });
}

void FileWatcher::ReadAgain() {
  absl::MutexLock lock(&mutex_);
  asked_ = true;
}

// Files that change while they are read may not match: a key, and the certificate of another.  The
// result only counts if the files did not change meanwhile.
void FileWatcher::Read(Entry* entry) {
  constexpr int kTries = 10;
  for (int i = 0; i < kTries; ++i) {
    entry->versions = VersionsOf(entry->files);
    entry->status = entry->files.read();
    if (entry->status.ok() || VersionsOf(entry->files) == entry->versions) break;
  }
  if (entry->files.on_read != nullptr) entry->files.on_read(entry->status);
}

void FileWatcher::Run(absl::Duration interval) {
  const auto called = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return closing_ || asked_; };
  while (true) {
    bool asked = false;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.AwaitWithTimeout(absl::Condition(&called), interval);
      if (closing_) return;
      asked = std::exchange(asked_, false);
    }
    Look(asked);
  }
}

void FileWatcher::Look(bool all) {
  for (Entry& entry : entries_) {
    const absl::Status before = entry.status;
    if (!all && before.ok() && VersionsOf(entry.files) == entry.versions) continue;
    Read(&entry);
    if (entry.status.ok()) {
      Log(LogLevel::kInfo, entry.files.what + " reloaded");
    } else if (entry.status != before) {  // not the same line every second
      Log(LogLevel::kError, entry.files.what + " not reloaded: the old ones stay in use",
          {{"error", std::string(entry.status.message())}});
    }
  }
}

}  // namespace dragoman
