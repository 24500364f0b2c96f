#include "engine/base/huge_pages.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>
#include <utility>

namespace dragoman {
HugePageMemory::HugePageMemory(size_t bytes) : size_(RoundUp(bytes, kPageBytes)) {
  // One extra page, so that the block contains an aligned address.
  void* const base = mmap(nullptr, size_ + kPageBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) throw std::bad_alloc();
  base_ = base;
  data_ = reinterpret_cast<std::byte*>(RoundUp(reinterpret_cast<uintptr_t>(base), kPageBytes));
  madvise(data_, size_, MADV_HUGEPAGE);  // a hint
}

HugePageMemory::~HugePageMemory() {
  if (base_ != nullptr) munmap(base_, size_ + kPageBytes);
}

HugePageMemory::HugePageMemory(HugePageMemory&& other) noexcept { *this = std::move(other); }

HugePageMemory& HugePageMemory::operator=(HugePageMemory&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void HugePageMemory::Release(size_t page) const {
  madvise(data_ + page * kPageBytes, kPageBytes, MADV_DONTNEED);
}

}  // namespace dragoman
