#include "engine/base/weight_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace dragoman {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kMapping = size_t{32} << 20;  // at least; what is not touched costs nothing
constexpr size_t kAlignment = 64;

size_t RoundUp(size_t n, size_t multiple) { return (n + multiple - 1) / multiple * multiple; }

// Zeros, a whole number of huge pages of them.
std::shared_ptr<void> Map(size_t bytes) {
  const size_t mapped = bytes + kHugePage;  // room to align
  void* const base =
      mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) throw std::bad_alloc();
  const auto address = reinterpret_cast<uintptr_t>(base);
  void* const aligned = reinterpret_cast<void*>(RoundUp(address, kHugePage));
  madvise(aligned, bytes, MADV_HUGEPAGE);  // only a wish
  return std::shared_ptr<void>(aligned, [base, mapped](void*) { munmap(base, mapped); });
}

}  // namespace

WeightMemory::WeightMemory(size_t bytes) {
  static absl::Mutex mutex(absl::kConstInit);
  static std::weak_ptr<void> current;  // the mapping that still has room
  static size_t used = 0, size = 0;    // of it

  const size_t needed = RoundUp(std::max<size_t>(bytes, 1), kAlignment);
  absl::MutexLock lock(&mutex);
  mapping_ = current.lock();
  if (mapping_ == nullptr || used + needed > size) {
    size = RoundUp(std::max(needed, kMapping), kHugePage);
    used = 0;
    mapping_ = Map(size);
    current = mapping_;
  }
  data_ = static_cast<std::byte*>(mapping_.get()) + used;
  used += needed;
}

}  // namespace dragoman
