// What the kernels of attention work on: one list of positions, and the queries that attend to it.

#ifndef DRAGOMAN_ENGINE_MATH_ATTEND_TASK_H_
#define DRAGOMAN_ENGINE_MATH_ATTEND_TASK_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "absl/types/span.h"
#include "engine/math/bfloat16.h"
#include "engine/math/matrix.h"

namespace dragoman {

// T is the type of keys and values.
template <typename T>
struct AttendTask {
  int heads;
  MatrixView<const float> q;
  absl::Span<const std::byte* const> rows;
  absl::Span<const std::byte* const> next;
  // For each query of a group: the scores of the positions, and a scale (AttendScratch).
  float* scratch;
  MatrixView<float> out;
  const float* bias;  // of query 0 and the first position, in the pattern of lanes; or null
  absl::Span<float* const> attention;  // as in AttendOptions
  absl::Span<const float> head_weights;

  int width() const { return q.cols(); }
  int positions() const { return static_cast<int>(rows.size()); }
  const T* keys(int position) const { return reinterpret_cast<const T*>(rows[position]); }
  const T* values(int position) const { return keys(position) + width(); }
  // In int8, the scales follow the values: first those of the keys, then as many for the values.
  const BFloat16* scales(int position) const {
    return reinterpret_cast<const BFloat16*>(rows[position] + 2 * width());
  }

  // Prefetches `n` elements of the next task, starting at element `first` of the position.
  void Fetch(int position, int first, int n) const {
    if (position >= static_cast<int>(next.size())) return;
    const std::byte* const p = next[position] + first * sizeof(T);
    for (size_t i = 0; i < n * sizeof(T); i += 64) __builtin_prefetch(p + i, 0, 2);
  }
};

// Whether elements have to be multiplied by scales.
template <typename T>
constexpr bool kScaled = std::is_same_v<T, int8_t>;

// Queries that share one reading of the keys and values.
constexpr int kQueryGroup = 4;

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_ATTEND_TASK_H_
