// The memory in which a worker keeps keys and values: blocks of one size, so that memory does not
// fragment as models and sentences come and go, and reserved memory is really available.
//
// A returned block is reused by the next sentence without asking the system: a steady load touches
// no new page.  The lowest free block is taken first, so that the pages of a burst become idle when
// it is over; Trim returns them.
//
// Thread-safe: one thread may trim while the worker takes and gives back.

#ifndef DRAGOMAN_ENGINE_MODEL_KV_POOL_H_
#define DRAGOMAN_ENGINE_MODEL_KV_POOL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "engine/base/huge_pages.h"

namespace dragoman {

struct KvBlock {
  std::byte* data = nullptr;  // aligned to KvPool::kBlockBytes
  int number = 0;
};

class KvPool {
 public:
  static constexpr size_t kBlockBytes = size_t{64} << 10;
  static constexpr size_t kUnlimited = size_t{1} << 40;

  // Holds at most `capacity` bytes in whole blocks, and nothing at first.
  explicit KvPool(size_t capacity = kUnlimited);
  // REQUIRES: all blocks have been given back.
  ~KvPool();

  // A block of unspecified content.  REQUIRES: the pool's capacity is not exhausted.
  KvBlock Take();
  void Give(KvBlock block);

  // Returns to the system the pages from which no block has been taken since the last call.  Called
  // every few seconds, it returns idle memory and leaves alone what is in use.
  void Trim();

  // The bytes that are taken now.
  size_t taken_bytes() const;
  // The bytes that the pool holds of the system's memory, in whole pages.
  size_t resident_bytes() const { return resident_bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr int kBlocksPerPage = HugePageMemory::kPageBytes / kBlockBytes;
  static constexpr int kPagesPerMapping = 16;

  struct Page {
    uint32_t free = 0;      // one bit per block
    bool resident = false;  // touched since the system gave it
    bool used = false;      // since the last Trim
  };
  static_assert(kBlocksPerPage == 32);

  // False after the last page.
  bool TrimPage(size_t i);
  void Grow() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int capacity_blocks_;
  std::atomic<size_t> resident_bytes_ = 0;
  mutable absl::Mutex mutex_;
  std::vector<HugePageMemory> mappings_ ABSL_GUARDED_BY(mutex_);
  std::vector<Page> pages_ ABSL_GUARDED_BY(mutex_);  // of all mappings, in order
  size_t first_free_ ABSL_GUARDED_BY(mutex_) = 0;    // no page before it has a free block
  int taken_ ABSL_GUARDED_BY(mutex_) = 0;            // blocks
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_KV_POOL_H_
