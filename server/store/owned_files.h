// Things of the operator's, each a file of a directory: glossaries or translation memories.  They
// are only read, again whenever they change.  The name of a file is the id of the thing, ID.tsv, or
// with another suffix, which then belongs to the id.
//
// A file that cannot be read leaves what it had before in use; if there is nothing, whoever names
// it is told why.  The same is true of the directory.  A file must be a regular one within the
// directory, though links may lead to it (Kubernetes' ConfigMaps have some).
//
// Thread-safe.  A T has the members of Owned.

#ifndef DRAGOMAN_SERVER_STORE_OWNED_FILES_H_
#define DRAGOMAN_SERVER_STORE_OWNED_FILES_H_

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "engine/base/status.h"
#include "server/store/file_directory.h"

namespace dragoman {

template <typename T>
class OwnedFiles {
 public:
  using Ptr = std::shared_ptr<const T>;

  struct Kind {
    const char* noun;                        // "glossary"
    std::vector<std::string_view> suffixes;  // besides .tsv
    // Reads the text of the file of this id.
    absl::StatusOr<Ptr> (*read)(const std::string& id, const std::string& text);
  };

  // Reads the directory.  INVALID_ARGUMENT if there is none; a file that cannot be read is only a
  // fault.
  static absl::StatusOr<std::unique_ptr<OwnedFiles>> Open(const std::string& directory, Kind kind) {
    auto files = std::unique_ptr<OwnedFiles>(new OwnedFiles(directory, std::move(kind)));
    RETURN_IF_ERROR(CheckDirectory(directory));
    files->Look().IgnoreError();
    return files;
  }

  // Reads the files that have changed.  After an error the others have been read, and those that
  // cannot be read are what they were; all are, if the directory cannot be read.
  absl::Status Look() {
    absl::MutexLock lock(&looking_);
    absl::Status fault = LookAtFiles();
    absl::MutexLock seen(&mutex_);
    fault_ = fault;
    return fault;
  }

  // What the last Look returned.
  absl::Status fault() const {
    absl::MutexLock lock(&mutex_);
    return fault_;
  }

  // Null if the principal sees none of that id; FAILED_PRECONDITION or UNAVAILABLE if its file
  // could never be read.
  absl::StatusOr<Ptr> Find(const std::string& id, const std::string& principal) const {
    absl::MutexLock lock(&mutex_);
    const auto found = things_.find(id);
    if (found != things_.end()) return found->second->IsSeenBy(principal) ? found->second : nullptr;
    const auto broken = broken_.find(id);
    if (broken != broken_.end()) return broken->second.status;
    return nullptr;
  }

  // Those that it sees.
  std::vector<Ptr> List(const std::string& principal) const {
    std::vector<Ptr> list;
    absl::MutexLock lock(&mutex_);
    for (const auto& [id, thing] : things_) {
      if (thing->IsSeenBy(principal)) list.push_back(thing);
    }
    return list;
  }

 private:
  static constexpr std::string_view kSuffix = ".tsv";

  OwnedFiles(std::string directory, Kind kind)
      : directory_(std::move(directory)), kind_(std::move(kind)) {}

  // "": it has none.
  std::string IdOfFile(std::string_view name) const {
    if (!IsPlainName(name)) return "";
    const bool other = absl::c_any_of(
        kind_.suffixes, [&](std::string_view suffix) { return name.ends_with(suffix); });
    if (other) return std::string(name);
    if (!name.ends_with(kSuffix)) return "";
    return std::string(name.substr(0, name.size() - kSuffix.size()));
  }

  absl::Status LookAtFiles() ABSL_EXCLUSIVE_LOCKS_REQUIRED(looking_) {
    ASSIGN_OR_RETURN(const FileVersions files, FilesIn(directory_));
    FileVersions there;
    std::vector<std::string> faults;
    for (const auto& [name, version] : files) {
      const std::string id = IdOfFile(name);
      if (id.empty()) continue;
      there[id] = version;
      if (const absl::Status read = Read(id, name, version); !read.ok()) {
        faults.emplace_back(read.message());
      }
    }
    const auto is_gone = [&](const auto& known) { return !there.contains(known.first); };
    std::erase_if(versions_, is_gone);
    absl::MutexLock seen(&mutex_);
    std::erase_if(things_, is_gone);
    std::erase_if(broken_, is_gone);
    return Summary(std::move(faults));
  }

  absl::Status Summary(std::vector<std::string> faults) const {
    constexpr size_t kMost = 5;
    if (faults.empty()) return absl::OkStatus();
    if (const size_t more = faults.size() - std::min(faults.size(), kMost); more > 0) {
      faults.resize(kMost);
      faults.push_back(absl::StrCat("and ", more, " more"));
    }
    return FailedPreconditionError(directory_, ": ", absl::StrJoin(faults, "; "));
  }

  // Reads the file of an id, which has this version, unless that was done.
  absl::Status Read(const std::string& id, const std::string& name, const FileVersion& version)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(looking_) {
    const auto known = versions_.find(id);
    if (known != versions_.end() && known->second == version) return absl::OkStatus();
    {
      absl::MutexLock lock(&mutex_);
      const auto broken = broken_.find(id);
      const bool is_same = broken != broken_.end() && broken->second.version == version;
      // What the system cannot do now it may do later.
      if (is_same && !absl::IsUnavailable(broken->second.status)) return broken->second.status;
    }
    absl::StatusOr<Ptr> thing = ReadText(id, name);
    absl::MutexLock lock(&mutex_);
    if (!thing.ok()) {
      broken_[id] = {version, thing.status()};
      return thing.status();
    }
    broken_.erase(id);
    things_[id] = *std::move(thing);
    versions_[id] = version;
    return absl::OkStatus();
  }

  absl::StatusOr<Ptr> ReadText(const std::string& id, const std::string& name) const {
    const std::string what = absl::StrCat("the ", kind_.noun, " \"", id, "\" cannot be read: ");
    const absl::StatusOr<std::string> text = ReadFileIn(directory_, name);
    if (!text.ok()) return Annotate(text.status(), what);
    absl::StatusOr<Ptr> thing = kind_.read(id, *text);
    if (thing.ok()) return thing;
    return FailedPreconditionError(what, name, ": ", thing.status().message());
  }

  struct Broken {
    FileVersion version;
    absl::Status status;
  };

  const std::string directory_;
  const Kind kind_;
  absl::Mutex looking_;
  FileVersions versions_ ABSL_GUARDED_BY(looking_);  // that were read, by id
  mutable absl::Mutex mutex_;
  std::map<std::string, Ptr> things_ ABSL_GUARDED_BY(mutex_);  // by id
  // Files that cannot be read, and why; there may be something else of that id from before.
  std::map<std::string, Broken> broken_ ABSL_GUARDED_BY(mutex_);
  absl::Status fault_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_STORE_OWNED_FILES_H_
