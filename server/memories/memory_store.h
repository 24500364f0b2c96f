// Translation memories that outlive their requests, and the server: a directory with a file for
// each (memory_text.h), whose owners, crashes and changes by others are the business of
// server/base/owned_files.h.  Those that others put there may be called NAME.tmx, too.
//
// What a memory learns is added to its file, which is written anew only when most of it is out of
// date.  So it takes as long as the disk needs, however large the memory is.
//
// Thread-safe.

#ifndef DRAGOMAN_SERVER_MEMORIES_MEMORY_STORE_H_
#define DRAGOMAN_SERVER_MEMORIES_MEMORY_STORE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/request/memory.h"
#include "server/base/owned_files.h"
#include "server/memories/memory_text.h"

namespace dragoman {

struct StoredMemory : Owned {
  MemoryPtr memory;     // never null
  size_t bytes = 0;     // of its file; 0: it must be written anew
  size_t segments = 0;  // in its file, with those that are out of date
};
using StoredMemoryPtr = std::shared_ptr<const StoredMemory>;

// Of one owner.
struct MemoryLimits {
  size_t memories = 200;
  size_t segments = 1'000'000;  // of all of them
};

class MemoryStore {
 public:
  // Reads the directory, which is created if it does not exist.  A file that cannot be read is only
  // a fault, which names it and the line.  `on_step` is called before each step of a write; a test
  // ends there.
  static absl::StatusOr<std::unique_ptr<MemoryStore>> Open(const std::string& directory,
                                                           const MemoryLimits& limits = {},
                                                           std::function<void()> on_step = nullptr);

  // Reads the files that have changed.  After an error the others have been read, and those that
  // cannot be read are what they were; all are, if the directory cannot be read.
  absl::Status Look() { return files_.Look(); }
  // What the last Look returned.
  absl::Status fault() const { return files_.fault(); }

  // NOT_FOUND if the principal sees none of that id; FAILED_PRECONDITION or UNAVAILABLE if its file
  // could never be read.
  absl::StatusOr<StoredMemoryPtr> Find(const std::string& id, const std::string& principal) const {
    return files_.Find(id, principal);
  }
  // Those that it sees, the oldest first.
  std::vector<StoredMemoryPtr> List(const std::string& principal) const {
    return files_.List(principal);
  }

  // Stores a new one for its owner, under a new id.  INVALID_ARGUMENT as CheckMemory,
  // RESOURCE_EXHAUSTED over the limits, UNAVAILABLE if it cannot be written.
  absl::StatusOr<StoredMemoryPtr> Create(MemoryText memory);
  // Adds segments, or puts them in the place of those with the same source and context.  Also
  // the errors of Find, and FAILED_PRECONDITION if it is not the principal's to change or its file
  // cannot be read any more.
  absl::StatusOr<StoredMemoryPtr> Learn(const std::string& id, const std::string& principal,
                                        std::vector<MemorySegment> segments);
  absl::Status Delete(const std::string& id, const std::string& principal) {
    return files_.Delete(id, principal);
  }

 private:
  MemoryStore(const std::string& directory, const MemoryLimits& limits,
              std::function<void()> on_step);

  absl::Status CheckLimits(const std::string& id, const std::string& owner, size_t segments) const;

  const MemoryLimits limits_;
  OwnedFiles<StoredMemory> files_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_MEMORIES_MEMORY_STORE_H_
