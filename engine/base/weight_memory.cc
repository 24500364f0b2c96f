#include "engine/base/weight_memory.h"

#include <algorithm>

#include "absl/base/attributes.h"
#include "absl/base/const_init.h"
#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "engine/base/huge_pages.h"

namespace dragoman {
namespace {

constexpr size_t kMapping = size_t{32} << 20;  // at least; untouched memory costs nothing
constexpr size_t kAlignment = 64;

ABSL_CONST_INIT absl::Mutex mutex(absl::kConstInit);
std::weak_ptr<const HugePageMemory> current ABSL_GUARDED_BY(mutex);  // it still has room
size_t used ABSL_GUARDED_BY(mutex) = 0;                              // of it

}  // namespace

void WeightMemory::BeginMapping() {
  absl::MutexLock lock(&mutex);
  current.reset();
}

WeightMemory::WeightMemory(size_t bytes) {
  const size_t needed = RoundUp(std::max<size_t>(bytes, 1), kAlignment);
  absl::MutexLock lock(&mutex);
  std::shared_ptr<const HugePageMemory> mapping = current.lock();
  if (mapping == nullptr || used + needed > mapping->size()) {
    used = 0;
    mapping = std::make_shared<const HugePageMemory>(std::max(needed, kMapping));
    current = mapping;
  }
  data_ = mapping->data() + used;
  used += needed;
  mapping_ = std::move(mapping);
}

}  // namespace dragoman
