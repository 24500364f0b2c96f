// A bfloat16: the upper half of a float32, with 8 bits of mantissa.

#ifndef DRAGOMAN_ENGINE_MATH_BFLOAT16_H_
#define DRAGOMAN_ENGINE_MATH_BFLOAT16_H_

#include <bit>
#include <cstdint>
#include <type_traits>

namespace dragoman {

struct BFloat16 {
  uint16_t bits;
};
static_assert(sizeof(BFloat16) == 2 && std::is_trivial_v<BFloat16>);

// Exact.  kernels.h rounds the other way.
inline float ToFloat(BFloat16 x) { return std::bit_cast<float>(uint32_t{x.bits} << 16); }

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_BFLOAT16_H_
