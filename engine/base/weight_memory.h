// Memory for weights.  Every step of a small batch reads all of it sequentially, so it is kept in
// huge pages.

#ifndef DRAGOMAN_ENGINE_BASE_WEIGHT_MEMORY_H_
#define DRAGOMAN_ENGINE_BASE_WEIGHT_MEMORY_H_

#include <cstddef>
#include <memory>
#include <utility>

#include "engine/base/huge_pages.h"

namespace dragoman {

// A block of bytes, aligned to a cache line and initially zero.  Many blocks share a large mapping,
// which is unmapped when the last of them is gone.  Movable.
class WeightMemory {
 public:
  WeightMemory() = default;
  // Thread-safe.
  explicit WeightMemory(size_t bytes);
  // Memory that exists already, which is only read; `owner` keeps it.
  WeightMemory(std::shared_ptr<const void> owner, const std::byte* data)
      : mapping_(std::move(owner)), data_(const_cast<std::byte*>(data)) {}

  // From now on blocks share no mapping with earlier ones, so that those of one model can be freed
  // while another one lives.  Thread-safe.
  static void BeginMapping();

  std::byte* data() const { return data_; }

 private:
  std::shared_ptr<const void> mapping_;
  std::byte* data_ = nullptr;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_WEIGHT_MEMORY_H_
