// Memory straight from the system, in huge pages where the kernel grants them.  A long sequential
// read then needs far fewer page table lookups than with 4 KiB pages.

#ifndef DRAGOMAN_ENGINE_BASE_HUGE_PAGES_H_
#define DRAGOMAN_ENGINE_BASE_HUGE_PAGES_H_

#include <cstddef>
#include <type_traits>

namespace dragoman {

template <typename T>
T RoundUp(T n, std::type_identity_t<T> multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

// A whole number of huge pages, initially zero.  Untouched pages cost nothing; touching one takes a
// whole huge page (4 KiB where there are none).  Movable.
class HugePageMemory {
 public:
  static constexpr size_t kPageBytes = size_t{2} << 20;

  HugePageMemory() = default;
  // Holds at least `bytes` bytes.  Throws std::bad_alloc if the system is out of memory.
  explicit HugePageMemory(size_t bytes);
  ~HugePageMemory();
  HugePageMemory(HugePageMemory&& other) noexcept;
  HugePageMemory& operator=(HugePageMemory&& other) noexcept;

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

  // Returns page number `page` to the system.  It reads as zero when it is touched again.
  void Release(size_t page) const;

 private:
  void* base_ = nullptr;  // of the mapping, which may start before the first page
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_HUGE_PAGES_H_
