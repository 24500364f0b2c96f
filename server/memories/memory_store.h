// Translation memories that outlive their requests: in the store, or files of the operator's
// (memory_text.h), which may be called NAME.tmx, too.
//
// What a memory learns is a row for each segment, and a layer of its index: so it takes about as
// long however large the memory is.
//
// Thread-safe.

#ifndef DRAGOMAN_SERVER_MEMORIES_MEMORY_STORE_H_
#define DRAGOMAN_SERVER_MEMORIES_MEMORY_STORE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/request/memory.h"
#include "server/memories/memory_text.h"
#include "server/store/owned_store.h"

namespace dragoman {

struct StoredMemory : Owned {
  MemoryPtr memory;  // never null
};
using StoredMemoryPtr = std::shared_ptr<const StoredMemory>;

class MemoryStore final : public OwnedStore<StoredMemory> {
 public:
  static const OwnedKind& Kind();

  explicit MemoryStore(const StoreParts& parts) : OwnedStore(parts, Kind()) {}

  // The files of a directory; the errors of OwnedFiles::Open.
  static absl::StatusOr<std::unique_ptr<Files>> OpenFiles(const std::string& directory);

  // Stores a new one for its owner.  INVALID_ARGUMENT as CheckMemory, and the errors of
  // OwnedRows::Create.
  absl::StatusOr<Owned> Create(absl::Time until, MemoryText memory, const std::string& id = "");
  // Adds segments, or puts them in the place of those with the same source and context.  Also
  // the errors of OwnedRows::Change.
  absl::StatusOr<Owned> Learn(const Asker& asker, const std::string& id,
                              std::vector<MemorySegment> segments);

 private:
  absl::StatusOr<Ptr> Load(Connection* connection, Owned thing, const Ptr& before) const override;
  bool IsShared() const override { return true; }
  int64_t IndexBytes(const Owned& thing) const override;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_MEMORIES_MEMORY_STORE_H_
