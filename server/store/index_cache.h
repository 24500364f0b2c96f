// What was read of the store, and is kept in memory for the requests that come next: those used
// last, within a number of bytes.
//
//   ASSIGN_OR_RETURN(auto share, indices.Take(bytes));  // before it is read
//   index = indices.Put(id, {index, share});
//
// Requests keep what they began with, and it counts until the last of them has dropped it.  So only
// an index that none uses makes room, and what finds no room is refused.
//
// Thread-safe.

#ifndef DRAGOMAN_SERVER_STORE_INDEX_CACHE_H_
#define DRAGOMAN_SERVER_STORE_INDEX_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "engine/base/not_copyable.h"
#include "engine/base/status.h"
#include "server/base/shared_budget.h"

namespace dragoman {

class IndexCache {
 public:
  // The memory of an index, or of several that have most of it in common.
  class Share : private NotCopyable {
   public:
    explicit Share(IndexCache* cache) : cache_(cache) {}
    ~Share() {
      absl::MutexLock lock(&cache_->mutex_);
      cache_->bytes_ -= bytes_;
    }

   private:
    friend class IndexCache;
    IndexCache* const cache_;
    int64_t bytes_ = 0;  // guarded by the cache's mutex
  };
  struct Entry {
    std::shared_ptr<const void> index;  // null: there is none
    std::shared_ptr<Share> share;
  };

  // Must outlive all shares.
  explicit IndexCache(int64_t most_bytes) : most_bytes_(most_bytes) {}

  int64_t most_bytes() const { return most_bytes_; }
  BudgetStats Stats() const {
    absl::MutexLock lock(&mutex_);
    return StatsLocked();
  }

  Entry Get(const std::string& id) {
    absl::MutexLock lock(&mutex_);
    const auto found = places_.find(id);
    if (found == places_.end()) return {};
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->second;
  }

  // Memory for one more.  RESOURCE_EXHAUSTED if requests use what would have to make room.
  absl::StatusOr<std::shared_ptr<Share>> Take(int64_t bytes) {
    auto share = std::make_shared<Share>(this);
    RETURN_IF_ERROR(Raise(share.get(), bytes));
    return share;
  }
  // The same for a share that there is, which becomes as large if it is smaller.
  absl::Status Raise(Share* share, int64_t bytes) {
    while (true) {
      Entry dropped;  // after the mutex was unlocked
      absl::MutexLock lock(&mutex_);
      const int64_t more = bytes - share->bytes_;
      if (more <= 0) return absl::OkStatus();
      if (bytes_ + more <= most_bytes_) {
        bytes_ += more;
        share->bytes_ = bytes;
        return absl::OkStatus();
      }
      auto unused = entries_.rbegin();  // copies are made under the mutex
      while (unused != entries_.rend() && unused->second.index.use_count() > 1) ++unused;
      if (unused == entries_.rend()) {
        ++refusals_;
        return NoRoom(StatsLocked(), static_cast<size_t>(more));
      }
      dropped = std::move(unused->second);
      places_.erase(unused->first);
      entries_.erase(std::prev(unused.base()));
    }
  }

  // Takes the place of one of the same id, and returns the index, which also holds the share.
  std::shared_ptr<const void> Put(const std::string& id, Entry entry) {
    const void* const index = entry.index.get();
    entry.index = {std::make_shared<Entry>(entry), index};
    Entry before = Remove(id);
    absl::MutexLock lock(&mutex_);
    entries_.push_front({id, entry});
    places_[id] = entries_.begin();
    return entry.index;
  }

  Entry Remove(const std::string& id) {
    absl::MutexLock lock(&mutex_);
    const auto found = places_.find(id);
    if (found == places_.end()) return {};
    Entry removed = std::move(found->second->second);
    entries_.erase(found->second);
    places_.erase(found);
    return removed;
  }

 private:
  BudgetStats StatsLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return {"indices", static_cast<size_t>(bytes_), static_cast<size_t>(most_bytes_), refusals_};
  }

  const int64_t most_bytes_;
  mutable absl::Mutex mutex_;
  using Entries = std::list<std::pair<std::string, Entry>>;
  Entries entries_ ABSL_GUARDED_BY(mutex_);  // used last, first
  absl::flat_hash_map<std::string, Entries::iterator> places_ ABSL_GUARDED_BY(mutex_);
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t refusals_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_STORE_INDEX_CACHE_H_
