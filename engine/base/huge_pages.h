// Memory straight from the system, in huge pages where the kernel grants them.  Reading a lot of it
// sequentially then takes far fewer page table lookups than with pages of 4 KiB.

#ifndef DRAGOMAN_ENGINE_BASE_HUGE_PAGES_H_
#define DRAGOMAN_ENGINE_BASE_HUGE_PAGES_H_

#include <cstddef>

namespace dragoman {

// A whole number of huge pages, zero at first.  Costs nothing until it is touched, and then one
// huge page at a time (4 KiB where there are none).  Movable.
class HugePageMemory {
 public:
  static constexpr size_t kPageBytes = size_t{2} << 20;

  HugePageMemory() = default;
  // At least that many bytes.  Throws std::bad_alloc where the system gives no more.
  explicit HugePageMemory(size_t bytes);
  ~HugePageMemory();
  HugePageMemory(HugePageMemory&& other) noexcept;
  HugePageMemory& operator=(HugePageMemory&& other) noexcept;

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

  // Gives page number `page` back to the system; it is zero when it is touched again.
  void Release(size_t page) const;

 private:
  void* base_ = nullptr;  // of the mapping, which may begin before the first page
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_HUGE_PAGES_H_
