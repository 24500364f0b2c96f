// How the keys and values of a position are kept for attention (attend.h): together, in one row of
// memory, as numbers of 32, 16 or 8 bits.
//
//   float32    keys | values, each [width]
//   bfloat16   the same in half the bytes
//   int8       the same in a quarter of the bytes, and scales: an element is its byte times the
//              scale of its head, of which there is one for the keys and one for the values
//
// Rows are made for the vectors of this machine: the order of bfloat16 and of scales depends on it.

#ifndef DRAGOMAN_ENGINE_MATH_KEY_VALUES_H_
#define DRAGOMAN_ENGINE_MATH_KEY_VALUES_H_

#include <cstddef>
#include <numeric>

#include "absl/types/span.h"
#include "engine/math/precision.h"

namespace dragoman {

struct KeyValueFormat {
  Precision precision = Precision::kFloat32;  // never kAuto
  int heads = 0;
  int width = 0;  // of the keys, and of the values: a multiple of heads

  size_t row_bytes() const;
};

// Writes the keys | values of a position [2 width], heads interleaved (attend.h), to a row.  In
// int8 a head with an infinite value or NaN becomes NaN as a whole.
void PackKeyValues(const KeyValueFormat& format, absl::Span<const float> keys_values,
                   std::byte* row);

// What follows is for the kernels, which know how many lanes their vectors have.

// Vectors of interleaved heads repeat after this many lanes: one vector, or an even number of them.
inline int PatternOf(int heads, int lanes) {
  return lanes % heads == 0 ? lanes : std::lcm(heads, 2 * lanes);
}

// Whether keys and values go through vectors in pairs.  Else they are read one element at a time.
constexpr int kLongestPattern = 512;
inline bool InPairs(int heads, int width, int lanes) {
  const int pattern = PatternOf(heads, lanes);
  return pattern <= kLongestPattern && width % std::lcm(pattern, 2 * lanes) == 0;
}

// The scales of keys, and of values, in a row of int8: bfloat16 in the pattern of the heads.
inline int ScalesOf(int heads, int width, int lanes) {
  return InPairs(heads, width, lanes) ? PatternOf(heads, lanes) : heads;
}

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_KEY_VALUES_H_
