// How the keys and values of a position are stored for attention (attend.h): together, in one row
// of memory, as numbers of 32, 16 or 8 bits.
//
//   float32    keys | values, each [width]
//   bfloat16   the same in half the bytes
//   int8       the same in a quarter of the bytes, and scales: an element is its byte times the
//              scale of its head; a head has one scale for its keys and one for its values
//
// Rows are laid out for the vectors of this machine: the order of bfloat16 elements and of scales
// depends on it.

#ifndef DRAGOMAN_ENGINE_MATH_KEY_VALUES_H_
#define DRAGOMAN_ENGINE_MATH_KEY_VALUES_H_

#include <algorithm>
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
// int8, a head with an infinite value or NaN becomes NaN as a whole.
void PackKeyValues(const KeyValueFormat& format, absl::Span<const float> keys_values,
                   std::byte* row);

// The rest is for the kernels, which know the number of lanes of their vectors.

// The product of a query and a key has a number of sums for each head that does not depend on the
// vectors (row_sums-inl.h): element e is added to sum e mod SumsOf(heads), and those of a head are
// folded in halves in the end.
inline int SumsOf(int heads) { return 16 % heads == 0 ? 16 : std::lcm(heads, 32); }

// Vectors of interleaved heads repeat after this many lanes: one vector, or all heads once, or an
// even number of vectors.
inline int PatternOf(int heads, int lanes) {
  return 16 % heads == 0 ? std::max(heads, lanes) : SumsOf(heads);
}

// Whether keys and values are loaded two vectors at a time, which requires a whole number of such
// pairs.  Otherwise, and if a vector is one element, they are read element by element.
constexpr int kLongestPattern = 512;
inline bool InPairs(int heads, int width, int lanes) {
  return lanes > 1 && SumsOf(heads) <= kLongestPattern &&
         width % std::lcm(SumsOf(heads), 2 * lanes) == 0;
}

// The scales of keys, and of values, in a row of int8: bfloat16 in the pattern of the heads.
inline int ScalesOf(int heads, int width, int lanes) {
  return InPairs(heads, width, lanes) ? PatternOf(heads, lanes) : heads;
}

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_KEY_VALUES_H_
