// Things that principals keep on the server, each in a file of its own (kept_directory.h), ID.tsv:
// glossaries and translation memories.  Files that others put there may have other suffixes, which
// belong to their ids; those are only read.
//
// A file that cannot be read is left as it is, whatever is asked of it, until somebody mends or
// removes it.  What it had before stays in use; if there is nothing, whoever names it is told why.
//
// A thing is seen by its owner, the principal that made it; by everybody if it is shared or has no
// owner.  Only its owner changes it.  In memory it is immutable: requests keep the version that
// they began with.
//
// A T has the members of Owned.

#ifndef DRAGOMAN_SERVER_BASE_OWNED_FILES_H_
#define DRAGOMAN_SERVER_BASE_OWNED_FILES_H_

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/base/status.h"
#include "server/base/kept_directory.h"

namespace dragoman {

struct Owned {
  std::string id;
  std::string name, owner;
  bool shared = false;
  int64_t version = 1;
  absl::Time created = absl::UnixEpoch();
  bool read_only = false;  // a file of others

  bool IsSeenBy(const std::string& principal) const {
    return shared || owner.empty() || owner == principal;
  }
  bool IsChangedBy(const std::string& principal) const { return owner == principal && !read_only; }
};

// Thread-safe.
template <typename T>
class OwnedFiles {
 public:
  using Ptr = std::shared_ptr<const T>;

  struct Kind {
    std::string noun;                    // "glossary"
    std::vector<std::string> of_others;  // suffixes of files that are only read
    // Reads the text of the file of this id.
    std::function<absl::StatusOr<Ptr>(const std::string& id, const std::string& text)> read;
    std::function<absl::Status(const std::string& id)> not_found;
  };

  OwnedFiles(std::string directory, Kind kind, std::function<void()> on_step)
      : kind_(std::move(kind)), directory_(std::move(directory), kind_.noun, std::move(on_step)) {}

  // Reads the directory, which is created if it does not exist.  A file that cannot be read is only
  // a fault.
  absl::Status Open() {
    const absl::Status opened = directory_.Open();
    if (opened.ok()) Look().IgnoreError();
    return opened;
  }

  // Reads the files that have changed.  After an error the others have been read, and those that
  // cannot be read are what they were; all are, if the directory cannot be read.
  absl::Status Look() {
    absl::Status fault = LookAtFiles();
    absl::MutexLock lock(&mutex_);
    fault_ = fault;
    return fault;
  }

  // What the last Look returned.
  absl::Status fault() const {
    absl::MutexLock lock(&mutex_);
    return fault_;
  }

  // NOT_FOUND if the principal sees none of that id; FAILED_PRECONDITION or UNAVAILABLE if its file
  // could never be read.
  absl::StatusOr<Ptr> Find(const std::string& id, const std::string& principal) const {
    absl::MutexLock lock(&mutex_);
    const auto found = things_.find(id);
    if (found != things_.end() && found->second->IsSeenBy(principal)) return found->second;
    const auto broken = broken_.find(id);
    if (found == things_.end() && broken != broken_.end()) return broken->second.status;
    return kind_.not_found(id);
  }

  // Also FAILED_PRECONDITION if it is not the principal's to change.
  absl::StatusOr<Ptr> FindOwn(const std::string& id, const std::string& principal) const {
    absl::StatusOr<Ptr> found = Find(id, principal);
    if (!found.ok() || (*found)->IsChangedBy(principal)) return found;
    return absl::FailedPreconditionError(
        absl::StrCat("the ", kind_.noun, " is not yours: you can use it, not change it"));
  }

  // As FindOwn, of the file as it is now: what somebody has made of it is not overwritten.  Also an
  // error if it cannot be read.
  absl::StatusOr<Ptr> FindToChange(const std::string& id, const std::string& principal)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_) {
    RETURN_IF_ERROR(FindOwn(id, principal).status());
    RETURN_IF_ERROR(Read(id, VersionOf(directory_.PathOf(FileOf(id)))));
    return FindOwn(id, principal);
  }

  // Those that it sees, the oldest first.
  std::vector<Ptr> List(const std::string& principal) const {
    std::vector<Ptr> list;
    {
      absl::MutexLock lock(&mutex_);
      for (const auto& [id, thing] : things_) {
        if (thing->IsSeenBy(principal)) list.push_back(thing);
      }
    }
    std::stable_sort(list.begin(), list.end(),
                     [](const Ptr& a, const Ptr& b) { return a->created < b->created; });
    return list;
  }

  // Calls `see` for those of an owner, except that of one id.
  void ForEachOf(const std::string& owner, const std::string& except,
                 absl::FunctionRef<void(const T&)> see) const {
    absl::MutexLock lock(&mutex_);
    for (const auto& [id, thing] : things_) {
      if (id != except && thing->owner == owner) see(*thing);
    }
  }

  // To be held for the whole of a change: from FindToChange to Put or Add.
  absl::Mutex* writing() const ABSL_LOCK_RETURNED(writing_) { return &writing_; }

  // Stores a thing, whose file has this text.  UNAVAILABLE if it cannot be written.
  absl::Status Put(std::string_view text, Ptr thing) ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_) {
    return Stored(std::move(thing),
                  [&](const std::string& file) { return directory_.Write(file, text); });
  }
  // As Put, for a file of which the first `size` bytes stay, and are followed by this text.
  absl::Status Add(size_t size, std::string_view text, Ptr thing)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_) {
    return Stored(std::move(thing),
                  [&](const std::string& file) { return directory_.Append(file, size, text); });
  }
  absl::Status Delete(const std::string& id, const std::string& principal) {
    absl::MutexLock lock(&writing_);
    absl::Status status = FindOwn(id, principal).status();
    if (status.ok()) status = directory_.Remove(FileOf(id));
    if (!status.ok()) return status;
    versions_.erase(id);
    Set(id, nullptr);
    return status;
  }

  bool IsOfOthers(std::string_view id) const {
    return std::any_of(kind_.of_others.begin(), kind_.of_others.end(),
                       [&](const std::string& suffix) { return id.ends_with(suffix); });
  }

 private:
  static constexpr std::string_view kSuffix = ".tsv";

  std::string FileOf(const std::string& id) const {
    return IsOfOthers(id) ? id : absl::StrCat(id, kSuffix.data());
  }

  // "": it has none.
  std::string IdOfFile(std::string_view name) const {
    if (!IsPlainName(name)) return "";
    if (IsOfOthers(name)) return std::string(name);
    if (!name.ends_with(kSuffix)) return "";
    name.remove_suffix(kSuffix.size());
    return IsOfOthers(name) ? "" : std::string(name);
  }

  absl::Status LookAtFiles() {
    absl::MutexLock lock(&writing_);
    ASSIGN_OR_RETURN(const FileVersions files, directory_.Files());
    FileVersions there;
    for (const auto& [name, version] : files) {
      const std::string id = IdOfFile(name);
      if (!id.empty()) there[id] = version;
    }
    const auto is_gone = [&](const auto& known) { return !there.contains(known.first); };
    std::erase_if(versions_, is_gone);
    {
      absl::MutexLock seen(&mutex_);
      std::erase_if(things_, is_gone);
      std::erase_if(broken_, is_gone);
    }
    std::vector<std::string> faults;
    for (const auto& [id, version] : there) {
      const absl::Status read = Read(id, version);
      if (!read.ok()) faults.emplace_back(read.message());
    }
    return Summary(std::move(faults));
  }

  absl::Status Summary(std::vector<std::string> faults) const {
    constexpr size_t kMost = 5;
    if (faults.empty()) return absl::OkStatus();
    if (const size_t more = faults.size() - std::min(faults.size(), kMost); more > 0) {
      faults.resize(kMost);
      faults.push_back(absl::StrCat("and ", more, " more"));
    }
    return absl::FailedPreconditionError(
        absl::StrCat(directory_.path(), ": ", absl::StrJoin(faults, "; ")));
  }

  // Reads the file of an id, which has this version, unless that was done.
  absl::Status Read(const std::string& id, const FileVersion& version)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_) {
    const auto known = versions_.find(id);
    if (known != versions_.end() && known->second == version) return absl::OkStatus();
    {
      absl::MutexLock lock(&mutex_);
      const auto broken = broken_.find(id);
      const bool is_same = broken != broken_.end() && broken->second.version == version;
      // What the system cannot do now it may do later.
      if (is_same && !absl::IsUnavailable(broken->second.status)) return broken->second.status;
    }
    absl::StatusOr<Ptr> thing = ReadFile(id);
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

  absl::StatusOr<Ptr> ReadFile(const std::string& id) const {
    const std::string file = FileOf(id);
    const std::string what = absl::StrCat("the ", kind_.noun, " \"", id, "\" cannot be read: ");
    const absl::StatusOr<std::string> text = directory_.Read(file);
    if (!text.ok()) return Annotate(text.status(), what);
    absl::StatusOr<Ptr> thing = kind_.read(id, *text);
    if (thing.ok()) return thing;
    return absl::FailedPreconditionError(absl::StrCat(what, file, ": ", thing.status().message()));
  }

  absl::Status Stored(Ptr thing, absl::FunctionRef<absl::Status(const std::string& file)> write)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_) {
    const std::string id = thing->id, file = FileOf(id);
    const absl::Status status = write(file);
    if (!status.ok()) return status;
    versions_[id] = VersionOf(directory_.PathOf(file));
    Set(id, std::move(thing));
    return status;
  }

  void Set(const std::string& id, Ptr thing) {
    absl::MutexLock lock(&mutex_);
    if (thing == nullptr) {
      things_.erase(id);
      broken_.erase(id);
    } else {
      things_[id] = std::move(thing);
    }
  }

  struct Broken {
    FileVersion version;
    absl::Status status;
  };

  const Kind kind_;
  const KeptDirectory directory_;
  mutable absl::Mutex writing_;                      // held for the whole of a write
  FileVersions versions_ ABSL_GUARDED_BY(writing_);  // that were read, by id
  mutable absl::Mutex mutex_;
  std::map<std::string, Ptr> things_ ABSL_GUARDED_BY(mutex_);  // by id
  // Files that cannot be read, and why; there may be something else of that id from before.
  std::map<std::string, Broken> broken_ ABSL_GUARDED_BY(mutex_);
  absl::Status fault_ ABSL_GUARDED_BY(mutex_);
};

// Takes what a comment of a file, `# KEY: VALUE`, says of its owner; true if it says that.  T has
// the members of Owned, except its id.
template <typename T>
absl::StatusOr<bool> ReadOwner(std::string_view key, const std::string& value, T* text) {
  std::string error;
  if (key == "name") {
    text->name = value;
  } else if (key == "owner") {
    text->owner = value;
  } else if (key == "shared") {
    text->shared = value == "yes";
  } else if (key == "version") {
    if (!absl::SimpleAtoi(value, &text->version)) {
      return absl::InvalidArgumentError("version: want a number");
    }
  } else if (key == "created") {
    if (!absl::ParseTime(absl::RFC3339_full, value, &text->created, &error)) {
      return absl::InvalidArgumentError("created: want a time, such as 2026-01-31T12:00:00Z");
    }
  } else {
    return false;
  }
  return true;
}

// The comments that ReadOwner reads.
template <typename T>
std::string WriteOwner(const T& text) {
  return absl::StrCat(
      "# name: ", text.name, "\n", text.owner.empty() ? "" : "# owner: " + text.owner + "\n",
      text.shared ? "# shared: yes\n" : "", "# version: ", text.version,
      "\n# created: ", absl::FormatTime(absl::RFC3339_full, text.created, absl::UTCTimeZone()),
      "\n");
}

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_BASE_OWNED_FILES_H_
