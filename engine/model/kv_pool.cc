#include "engine/model/kv_pool.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "engine/base/status.h"

namespace dragoman {

KvPool::KvPool(size_t capacity)
    : capacity_blocks_(static_cast<int>(
          std::min<size_t>(capacity / kBlockBytes, std::numeric_limits<int>::max()))) {}

KvPool::~KvPool() {
  absl::MutexLock lock(&mutex_);
  DRAGOMAN_CHECK(taken_ == 0);
}

KvBlock KvPool::Take() {
  absl::MutexLock lock(&mutex_);
  DRAGOMAN_CHECK(taken_ < capacity_blocks_);
  while (first_free_ < pages_.size() && pages_[first_free_].free == 0) ++first_free_;
  if (first_free_ == pages_.size()) Grow();
  Page& page = pages_[first_free_];
  const int block = std::countr_zero(page.free);
  page.free &= page.free - 1;
  page.used = true;
  if (!page.resident) {
    page.resident = true;
    resident_bytes_.fetch_add(HugePageMemory::kPageBytes, std::memory_order_relaxed);
  }
  ++taken_;
  const HugePageMemory& mapping = mappings_[first_free_ / kPagesPerMapping];
  return {.data = mapping.data() + first_free_ % kPagesPerMapping * HugePageMemory::kPageBytes +
                  block * kBlockBytes,
          .number = static_cast<int>(first_free_) * kBlocksPerPage + block};
}

void KvPool::Give(KvBlock block) {
  absl::MutexLock lock(&mutex_);
  const size_t number = block.number / kBlocksPerPage;
  Page& page = pages_[number];
  const uint32_t bit = uint32_t{1} << block.number % kBlocksPerPage;
  DRAGOMAN_CHECK((page.free & bit) == 0);
  page.free |= bit;
  page.used = true;
  first_free_ = std::min(first_free_, number);
  --taken_;
}

size_t KvPool::taken_bytes() const {
  absl::MutexLock lock(&mutex_);
  return taken_ * kBlockBytes;
}

void KvPool::Trim() {
  for (size_t i = 0; TrimPage(i); ++i) {
  }
}

// One page at a time: returning one takes the system a while, and the worker must not wait for all
// of them.
bool KvPool::TrimPage(size_t i) {
  absl::MutexLock lock(&mutex_);
  if (i >= pages_.size()) return false;
  Page& page = pages_[i];
  const bool idle = page.free == std::numeric_limits<uint32_t>::max() && !page.used;
  page.used = false;
  if (idle && page.resident) {
    mappings_[i / kPagesPerMapping].Release(i % kPagesPerMapping);
    page.resident = false;
    resident_bytes_.fetch_sub(HugePageMemory::kPageBytes, std::memory_order_relaxed);
  }
  return true;
}

void KvPool::Grow() {
  mappings_.emplace_back(kPagesPerMapping * HugePageMemory::kPageBytes);
  pages_.resize(pages_.size() + kPagesPerMapping, {.free = std::numeric_limits<uint32_t>::max()});
}

}  // namespace dragoman
