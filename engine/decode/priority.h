// How urgent a request is.

#ifndef DRAGOMAN_ENGINE_DECODE_PRIORITY_H_
#define DRAGOMAN_ENGINE_DECODE_PRIORITY_H_

#include <array>
#include <cstddef>
#include <iterator>

namespace dragoman {

// Interactive work goes first.  Batch work gets what it leaves, and a sixteenth of the rows if that
// is nothing for long (scheduler.h).
enum class Priority { kInteractive, kBatch };

inline constexpr Priority kPriorities[] = {Priority::kInteractive, Priority::kBatch};

// A T for each priority.
template <typename T>
class PerPriority {
 public:
  T& operator[](Priority priority) { return values_[static_cast<size_t>(priority)]; }
  const T& operator[](Priority priority) const { return values_[static_cast<size_t>(priority)]; }

 private:
  std::array<T, std::size(kPriorities)> values_{};
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_PRIORITY_H_
