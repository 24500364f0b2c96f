#include "engine/math/key_values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "engine/base/status.h"
#include "engine/math/bfloat16.h"
#include "engine/math/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/math/key_values.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every instruction set
// Highway's headers come after foreach_target.
#include "hwy/highway.h"

#ifndef DRAGOMAN_KEY_VALUES_SCALE_
#define DRAGOMAN_KEY_VALUES_SCALE_
namespace dragoman {

// The scale that maps numbers up to `max` to integers up to 127, in bfloat16, rounded up so that
// none exceeds 127. 0 if the numbers are negligible; NaN stays NaN.
inline float ScaleFor(float max) {
  constexpr float kNothing = 1e-30f;
  if (max < kNothing) return 0.0f;
  const uint32_t bits = std::bit_cast<uint32_t>(max / 127.0f);
  return std::isnan(max) ? max : std::bit_cast<float>((bits + 0xFFFFu) & 0xFFFF0000u);
}

inline float Inverse(float scale) { return scale > 0.0f ? 1.0f / scale : 0.0f; }

inline BFloat16 UpperHalf(float x) {
  return {static_cast<uint16_t>(std::bit_cast<uint32_t>(x) >> 16)};
}

}  // namespace dragoman
#endif  // DRAGOMAN_KEY_VALUES_SCALE_

HWY_BEFORE_NAMESPACE();
namespace dragoman {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

int FloatLanes() { return static_cast<int>(hn::Lanes(D())); }

// Two vectors of bfloat16 in one vector of 32-bit words, the first in the lower halves.  REQUIRES:
// InPairs(heads, n).
void PackBFloat16InPairs(const float* x, int n, BFloat16* out) {
  const D d;
  const hn::Repartition<uint32_t, D> d32;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto half = hn::Set(d32, 0x7FFFu), one = hn::Set(d32, 1u);
  const auto quiet = hn::BitCast(d, hn::Set(d32, 0x7FC00000u));
  const auto rounded = [&](const float* p) {
    const V v = hn::LoadU(d, p);
    const auto bits = hn::BitCast(d32, hn::IfThenElse(hn::IsNaN(v), quiet, v));
    return hn::Add(bits, hn::Add(half, hn::And(hn::ShiftRight<16>(bits), one)));
  };
  for (int i = 0; i < n; i += 2 * lanes) {
    const auto low = hn::ShiftRight<16>(rounded(x + i));
    const auto high = hn::And(rounded(x + i + lanes), hn::Set(d32, 0xFFFF0000u));
    hn::StoreU(hn::Or(low, high), d32, reinterpret_cast<uint32_t*>(out + i));
  }
}

// Writes the largest magnitude of each head in the n numbers at x to all of its lanes in `maxima`
// [pattern]; NaN for a head with a number that is not finite.
void MaximaOfHeads(const float* x, int n, int heads, int pattern, float* maxima) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int p = 0; p < pattern; p += lanes) {
    V max = hn::Zero(d), bad = hn::Zero(d);
    for (int e = p; e < n; e += pattern) {
      const V v = hn::LoadU(d, x + e);
      max = hn::Max(max, hn::Abs(v));
      bad = hn::MulAdd(v, hn::Zero(d), bad);  // a number that is not finite, times 0, is NaN
    }
    hn::StoreU(hn::Add(max, bad), d, maxima + p);
  }
  for (int h = 0; h < heads; ++h) {
    float max = 0.0f;
    for (int e = h; e < pattern; e += heads) {
      if (maxima[e] > max || std::isnan(maxima[e])) max = maxima[e];
    }
    for (int e = h; e < pattern; e += heads) maxima[e] = max;
  }
}

// REQUIRES: InPairs(heads, n).
void PackInt8InPairs(const float* x, int n, int heads, int8_t* out, BFloat16* scales) {
  const D d;
  const hn::Rebind<int8_t, D> d8;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const int pattern = PatternOf(heads, lanes);
  HWY_ALIGN float inverses[kLongestPattern];
  MaximaOfHeads(x, n, heads, pattern, inverses);
  for (int p = 0; p < pattern; ++p) {
    const float scale = ScaleFor(inverses[p]);
    scales[p] = UpperHalf(scale);
    inverses[p] = Inverse(scale);
  }
  for (int p = 0; p < pattern; p += lanes) {
    const V inverse = hn::Load(d, inverses + p);
    for (int e = p; e < n; e += pattern) {
      const auto rounded = hn::NearestInt(hn::Mul(hn::LoadU(d, x + e), inverse));
      hn::StoreU(hn::DemoteTo(d8, rounded), d8, out + e);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman {
namespace {

HWY_EXPORT(FloatLanes);
HWY_EXPORT(PackBFloat16InPairs);
HWY_EXPORT(PackInt8InPairs);

void PackInt8Plainly(const float* x, int n, int heads, int8_t* out, BFloat16* scales) {
  for (int h = 0; h < heads; ++h) {
    float max = 0.0f;
    for (int e = h; e < n; e += heads) {
      if (std::abs(x[e]) > max) max = std::abs(x[e]);
      if (!std::isfinite(x[e])) max = std::numeric_limits<float>::quiet_NaN();
    }
    const float scale = ScaleFor(max);
    scales[h] = UpperHalf(scale);
    for (int e = h; e < n; e += heads) {
      out[e] = std::isnan(max) ? 0 : static_cast<int8_t>(std::lrint(x[e] * Inverse(scale)));
    }
  }
}

void PackBFloat16(const KeyValueFormat& format, const float* x, bool in_pairs, BFloat16* out) {
  if (in_pairs) {
    HWY_DYNAMIC_DISPATCH(PackBFloat16InPairs)(x, format.width, out);
  } else {
    ToBFloat16({x, 1, format.width}, {out, 1, format.width});
  }
}

}  // namespace

size_t KeyValueFormat::row_bytes() const {
  const size_t elements = size_t{2} * width;
  if (precision == Precision::kFloat32) return elements * sizeof(float);
  if (precision == Precision::kBFloat16) return elements * sizeof(BFloat16);
  const int scales = ScalesOf(heads, width, HWY_DYNAMIC_DISPATCH(FloatLanes)());
  return elements + 2 * scales * sizeof(BFloat16);
}

void PackKeyValues(const KeyValueFormat& format, absl::Span<const float> keys_values,
                   std::byte* row) {
  const int width = format.width;
  DRAGOMAN_CHECK(static_cast<int>(keys_values.size()) == 2 * width);
  if (format.precision == Precision::kFloat32) {
    std::memcpy(row, keys_values.data(), format.row_bytes());
    return;
  }
  const int lanes = HWY_DYNAMIC_DISPATCH(FloatLanes)();
  const bool in_pairs = InPairs(format.heads, width, lanes);
  const int scales = ScalesOf(format.heads, width, lanes);
  for (const int half : {0, 1}) {
    const float* const x = keys_values.data() + half * width;
    if (format.precision == Precision::kBFloat16) {
      PackBFloat16(format, x, in_pairs, reinterpret_cast<BFloat16*>(row) + half * width);
      continue;
    }
    int8_t* const out = reinterpret_cast<int8_t*>(row) + half * width;
    BFloat16* const its_scales = reinterpret_cast<BFloat16*>(row + 2 * width) + half * scales;
    if (in_pairs) {
      HWY_DYNAMIC_DISPATCH(PackInt8InPairs)(x, width, format.heads, out, its_scales);
    } else {
      PackInt8Plainly(x, width, format.heads, out, its_scales);
    }
  }
}

}  // namespace dragoman
#endif  // HWY_ONCE
