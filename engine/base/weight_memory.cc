#include "engine/base/weight_memory.h"

#include <algorithm>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "engine/base/huge_pages.h"

namespace dragoman {
namespace {

constexpr size_t kMapping = size_t{32} << 20;  // at least; untouched memory costs nothing
constexpr size_t kAlignment = 64;

}  // namespace

WeightMemory::WeightMemory(size_t bytes) {
  static absl::Mutex mutex(absl::kConstInit);
  static std::weak_ptr<const HugePageMemory> current;  // the mapping that still has room
  static size_t used = 0;                              // of it

  const size_t needed = RoundUp(std::max<size_t>(bytes, 1), kAlignment);
  absl::MutexLock lock(&mutex);
  mapping_ = current.lock();
  if (mapping_ == nullptr || used + needed > mapping_->size()) {
    used = 0;
    mapping_ = std::make_shared<const HugePageMemory>(std::max(needed, kMapping));
    current = mapping_;
  }
  data_ = mapping_->data() + used;
  used += needed;
}

}  // namespace dragoman
