// Things that principals keep in the store (owned_rows.h), and those of the operator's files
// (owned_files.h), as requests use them: with an index, which is made when a thing is first used
// and kept in memory (index_cache.h).
//
// What is used is always the latest version: whoever names a thing asks the store for its number.
//
// Thread-safe.  A T has the members of Owned.

#ifndef DRAGOMAN_SERVER_STORE_OWNED_STORE_H_
#define DRAGOMAN_SERVER_STORE_OWNED_STORE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/base/heap.h"
#include "engine/base/status.h"
#include "server/store/index_cache.h"
#include "server/store/owned_files.h"
#include "server/store/owned_rows.h"

namespace dragoman {

// What the stores of a server share; all of it must outlive them.
struct StoreParts {
  Database* database = nullptr;
  StoreLimits limits;
  IndexCache* indices = nullptr;
};

template <typename T>
class OwnedStore {
 public:
  using Ptr = std::shared_ptr<const T>;
  using Files = OwnedFiles<T>;

  // Null: there are none.
  void SetFiles(std::unique_ptr<Files> files) { files_ = std::move(files); }
  Files* files() const { return files_.get(); }

  // Whether what is stored survives the process.
  bool survives() const { return rows_.survives(); }

  // What is known of a thing.  NOT_FOUND if the principal sees none of that id; of a file,
  // FAILED_PRECONDITION or UNAVAILABLE if it could never be read.  As of all functions here,
  // UNAVAILABLE if the store cannot be reached.
  absl::StatusOr<Owned> Describe(const Asker& asker, const std::string& id) const {
    ASSIGN_OR_RETURN(const Ptr file, FindFile(id, asker.principal));
    if (file != nullptr) return Owned(*file);
    return rows_.Find(asker, id);
  }

  // Those that it sees, the oldest first.
  absl::StatusOr<std::vector<Owned>> List(const Asker& asker) const {
    ASSIGN_OR_RETURN(std::vector<Owned> list, rows_.List(asker));
    if (files_ != nullptr) {
      for (const Ptr& file : files_->List(asker.principal)) list.push_back(*file);
    }
    absl::c_stable_sort(list, [](const Owned& a, const Owned& b) { return a.created < b.created; });
    return list;
  }

  // A thing with its index.  Also RESOURCE_EXHAUSTED if that is larger than all indices may be, or
  // than what those that requests use leave of that.
  absl::StatusOr<Ptr> Find(const Asker& asker, const std::string& id) const {
    ASSIGN_OR_RETURN(Ptr found, FindFile(id, asker.principal));
    if (found != nullptr) return found;
    ASSIGN_OR_RETURN(const Owned thing, rows_.Find(asker, id));
    found = IndexOf(indices_->Get(thing.id));
    if (found != nullptr && found->version >= thing.version) return found;
    if (const int64_t bytes = IndexBytes(thing); bytes > indices_->most_bytes()) {
      return ResourceExhaustedError("the index of the ", rows_.kind().noun, " would take ", bytes,
                                    " bytes, the most is ", indices_->most_bytes());
    }
    absl::MutexLock lock(&loading_);  // once, whoever wants it
    IndexCache::Entry known = indices_->Get(thing.id);
    if (known.index != nullptr && IndexOf(known)->version >= thing.version) return IndexOf(known);
    IndexCache::Entry read;
    RETURN_IF_ERROR(
        rows_.Read(asker, thing.id, [&](Connection* connection, Owned now) -> absl::Status {
          RETURN_IF_ERROR(TakeMemory(now, &known, &read.share));
          ASSIGN_OR_RETURN(read.index, Load(connection, std::move(now), IndexOf(known)));
          return absl::OkStatus();
        }));
    const bool whole = known.index == nullptr || !IsShared();
    known = {};
    found = IndexOf({indices_->Put(thing.id, std::move(read))});
    // What was evicted, and what was read besides the index, would stay with a thread's part of the
    // heap: each thread would keep the room for an index.
    if (whole && IndexBytes(thing) >= kWorthTrimming) GiveBackHeap();
    return found;
  }

  absl::Status Delete(const Asker& asker, const std::string& id) {
    ASSIGN_OR_RETURN(const Ptr file, FindFile(id, asker.principal));
    if (file != nullptr) return NotYours(rows_.kind().noun);
    return rows_.Delete(asker, id);
  }

 protected:
  OwnedStore(const StoreParts& parts, const OwnedKind& kind)
      : rows_(parts.database, kind, parts.limits), indices_(parts.indices) {}
  ~OwnedStore() = default;

  // Whether versions of an index have nearly all of their memory in common.
  virtual bool IsShared() const = 0;
  // Reads what the store has of a thing beyond `before`, an older version of it; null: all.
  virtual absl::StatusOr<Ptr> Load(Connection* connection, Owned thing,
                                   const Ptr& before) const = 0;
  // That its index takes, about.
  virtual int64_t IndexBytes(const Owned& thing) const = 0;

  const OwnedRows& rows() const { return rows_; }
  // Null: it is not a file's.
  absl::StatusOr<Ptr> FindFile(const std::string& id, const std::string& principal) const {
    if (files_ == nullptr) return nullptr;
    return files_->Find(id, principal);
  }

 private:
  static Ptr IndexOf(const IndexCache::Entry& entry) {
    return std::static_pointer_cast<const T>(entry.index);
  }

  // Memory for the index of a thing, of which the version `known` is there, if any.  That one goes
  // if there is no room for both.
  absl::Status TakeMemory(const Owned& thing, IndexCache::Entry* known,
                          std::shared_ptr<IndexCache::Share>* share) const {
    const int64_t bytes = IndexBytes(thing);
    if (known->index != nullptr && IsShared()) {
      *share = known->share;
      return indices_->Raise(share->get(), bytes);
    }
    absl::StatusOr<std::shared_ptr<IndexCache::Share>> taken = indices_->Take(bytes);
    if (!taken.ok() && known->index != nullptr) {
      *known = {};
      indices_->Remove(thing.id);
      taken = indices_->Take(bytes);
    }
    ASSIGN_OR_RETURN(*share, std::move(taken));
    return absl::OkStatus();
  }

  static constexpr int64_t kWorthTrimming = 4 << 20;

  const OwnedRows rows_;
  IndexCache* const indices_;
  std::unique_ptr<Files> files_;
  mutable absl::Mutex loading_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_STORE_OWNED_STORE_H_
