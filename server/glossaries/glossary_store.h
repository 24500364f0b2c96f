// Glossaries that outlive their requests, and the server: a directory with a file for each
// (glossary_text.h), whose owners, crashes and changes by others are the business of
// server/base/owned_files.h.  Those that others put there may be called NAME.csv or NAME.tbx
// (tbx.h), too.
//
// Thread-safe.

#ifndef DRAGOMAN_SERVER_GLOSSARIES_GLOSSARY_STORE_H_
#define DRAGOMAN_SERVER_GLOSSARIES_GLOSSARY_STORE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/base/owned_files.h"
#include "server/glossaries/glossary_text.h"

namespace dragoman {

// A glossary in memory.
struct StoredGlossary : Owned {
  TermLists dictionaries;

  size_t entries() const;
};
using GlossaryPtr = std::shared_ptr<const StoredGlossary>;

// Of one owner.
struct GlossaryLimits {
  size_t glossaries = 200;
  size_t entries = 300'000;  // of all of them
};

class GlossaryStore {
 public:
  // Reads the directory, which is created if it does not exist.  A file that cannot be read is only
  // a fault, which names it and the line.  `on_step` is called before each step of a write; a test
  // ends there.
  static absl::StatusOr<std::unique_ptr<GlossaryStore>> Open(
      const std::string& directory, const GlossaryLimits& limits = {},
      std::function<void()> on_step = nullptr);

  // Reads the files that have changed.  After an error the others have been read, and those that
  // cannot be read are what they were; all are, if the directory cannot be read.
  absl::Status Look() { return files_.Look(); }
  // What the last Look returned.
  absl::Status fault() const { return files_.fault(); }

  // NOT_FOUND if the principal sees none of that id; FAILED_PRECONDITION or UNAVAILABLE if its file
  // could never be read.
  absl::StatusOr<GlossaryPtr> Find(const std::string& id, const std::string& principal) const {
    return files_.Find(id, principal);
  }
  // Those that it sees, the oldest first.
  std::vector<GlossaryPtr> List(const std::string& principal) const {
    return files_.List(principal);
  }

  // Stores a new one for its owner, under a new id.  INVALID_ARGUMENT as CheckGlossary and, for the
  // entries of each pair of languages, CheckSources; RESOURCE_EXHAUSTED over the limits,
  // UNAVAILABLE if it cannot be written.
  absl::StatusOr<GlossaryPtr> Create(GlossaryText glossary);
  // Stores what `edit` makes of it, as the next version; the owner stays.  Also the errors of
  // Find, and FAILED_PRECONDITION if it is not the principal's to change or its file cannot be read
  // any more.
  absl::StatusOr<GlossaryPtr> Update(const std::string& id, const std::string& principal,
                                     absl::FunctionRef<absl::Status(GlossaryText*)> edit);
  absl::Status Delete(const std::string& id, const std::string& principal) {
    return files_.Delete(id, principal);
  }

 private:
  GlossaryStore(const std::string& directory, const GlossaryLimits& limits,
                std::function<void()> on_step);

  absl::Status CheckLimits(const std::string& id, const GlossaryText& glossary) const;
  absl::StatusOr<GlossaryPtr> Put(const std::string& id, GlossaryText glossary)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(files_.writing());

  const GlossaryLimits limits_;
  OwnedFiles<StoredGlossary> files_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_GLOSSARIES_GLOSSARY_STORE_H_
