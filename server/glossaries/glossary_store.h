// Glossaries that outlive their requests, and the server: a directory with a file for each
// (glossary_text.h), ID.tsv.  Those that others put there may be called ID too, with ID ending in
// .csv or .tbx (tbx.h); they are only read.
//
// A file is never changed: a new one is written beside it under another name, brought to the disk,
// and renamed.  Whenever a process or a machine stops, each glossary is what it was or what it was
// to become; a name that was not renamed is ignored, and removed at the next start.  Others may put
// files there in the same way, or remove them: the server watches.
//
// A glossary is seen by its owner, the principal that made it; by everybody if it is shared or has
// no owner.  Only its owner changes it.
//
// Thread-safe.

#ifndef DRAGOMAN_SERVER_GLOSSARIES_GLOSSARY_STORE_H_
#define DRAGOMAN_SERVER_GLOSSARIES_GLOSSARY_STORE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/base/file_version.h"
#include "server/glossaries/glossary_text.h"

namespace dragoman {

// A glossary in memory.  Immutable: requests keep the version that they began with.
struct StoredGlossary {
  std::string id;
  std::string name, owner;
  bool shared = false;
  int64_t version = 1;
  absl::Time created;
  TermLists dictionaries;

  size_t entries() const;
  bool IsSeenBy(const std::string& principal) const {
    return shared || owner.empty() || owner == principal;
  }
  bool IsChangedBy(const std::string& principal) const;
};
using GlossaryPtr = std::shared_ptr<const StoredGlossary>;

// Of one owner.
struct GlossaryLimits {
  size_t glossaries = 200;
  size_t entries = 300'000;  // of all of them
};

class GlossaryStore {
 public:
  // Reads the directory, which is created if it does not exist.  An error names the file and the
  // line.  `on_step` is called before each step of a write; a test ends there.
  static absl::StatusOr<std::unique_ptr<GlossaryStore>> Open(
      const std::string& directory, const GlossaryLimits& limits = {},
      std::function<void()> on_step = nullptr);

  const std::string& directory() const { return directory_; }

  // Reads the files that have changed.  After an error the others have been read, and those that
  // cannot be read are what they were.
  absl::Status Look();

  // NOT_FOUND if the principal sees none of that id.
  absl::StatusOr<GlossaryPtr> Find(const std::string& id, const std::string& principal) const;
  // Those that it sees, the oldest first.
  std::vector<GlossaryPtr> List(const std::string& principal) const;

  // Stores a new one for its owner, under a new id.  INVALID_ARGUMENT as CheckGlossary,
  // RESOURCE_EXHAUSTED over the limits, UNAVAILABLE if it cannot be written.
  absl::StatusOr<GlossaryPtr> Create(GlossaryText glossary);
  // Stores what `edit` makes of it, as the next version; the owner stays.  Also NOT_FOUND, and
  // FAILED_PRECONDITION if it is not the principal's to change.
  absl::StatusOr<GlossaryPtr> Update(const std::string& id, const std::string& principal,
                                     absl::FunctionRef<absl::Status(GlossaryText*)> edit);
  absl::Status Delete(const std::string& id, const std::string& principal);

 private:
  GlossaryStore(std::string directory, const GlossaryLimits& limits, std::function<void()> on_step)
      : directory_(std::move(directory)), limits_(limits), on_step_(std::move(on_step)) {}

  std::string PathOf(const std::string& id) const;
  absl::StatusOr<GlossaryPtr> FindOwn(const std::string& id, const std::string& principal) const;
  absl::Status CheckLimits(const std::string& id, const GlossaryText& glossary) const;
  absl::StatusOr<GlossaryPtr> Put(const std::string& id, GlossaryText glossary)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_);
  absl::Status Write(const std::string& id, const std::string& text);
  absl::Status KeepDirectory() const;
  absl::Status Read(const std::string& id);
  void Set(const std::string& id, GlossaryPtr glossary);
  void Step() const {
    if (on_step_ != nullptr) on_step_();
  }

  const std::string directory_;
  const GlossaryLimits limits_;
  const std::function<void()> on_step_;
  absl::Mutex writing_;  // held for the whole of a write, or of Look
  std::map<std::string, FileVersion> versions_ ABSL_GUARDED_BY(writing_);  // that were read, by id
  mutable absl::Mutex mutex_;
  std::map<std::string, GlossaryPtr> glossaries_ ABSL_GUARDED_BY(mutex_);  // by id
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_GLOSSARIES_GLOSSARY_STORE_H_
