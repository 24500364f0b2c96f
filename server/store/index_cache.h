// What was read of the store, and is kept in memory for the requests that come next: those used
// last, within a number of bytes.  Requests keep what they began with.
//
// Thread-safe.

#ifndef DRAGOMAN_SERVER_STORE_INDEX_CACHE_H_
#define DRAGOMAN_SERVER_STORE_INDEX_CACHE_H_

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"

namespace dragoman {

class IndexCache {
 public:
  explicit IndexCache(int64_t most_bytes) : most_bytes_(most_bytes) {}

  int64_t most_bytes() const { return most_bytes_; }
  int64_t bytes() const {
    absl::MutexLock lock(&mutex_);
    return bytes_;
  }

  // Null if there is none.
  std::shared_ptr<const void> Get(const std::string& id) {
    absl::MutexLock lock(&mutex_);
    const auto found = places_.find(id);
    if (found == places_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->index;
  }

  // Takes the place of one of the same id, and of those that were not used for longest.
  void Put(const std::string& id, std::shared_ptr<const void> index, int64_t bytes) {
    absl::MutexLock lock(&mutex_);
    if (const auto found = places_.find(id); found != places_.end()) Remove(found->second);
    entries_.push_front({id, std::move(index), bytes});
    places_[id] = entries_.begin();
    bytes_ += bytes;
    while (bytes_ > most_bytes_) Remove(std::prev(entries_.end()));
  }

 private:
  struct Entry {
    std::string id;
    std::shared_ptr<const void> index;
    int64_t bytes;
  };

  void Remove(std::list<Entry>::iterator entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    bytes_ -= entry->bytes;
    places_.erase(entry->id);
    entries_.erase(entry);
  }

  const int64_t most_bytes_;
  mutable absl::Mutex mutex_;
  std::list<Entry> entries_ ABSL_GUARDED_BY(mutex_);  // used last, first
  absl::flat_hash_map<std::string, std::list<Entry>::iterator> places_ ABSL_GUARDED_BY(mutex_);
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_STORE_INDEX_CACHE_H_
