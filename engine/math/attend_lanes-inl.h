// Vectors whose lanes belong to different heads.  For 6 heads and vectors of 4 lanes, the elements
// of a row follow each other like this; the letters are heads:
//
//   | a b c d | e f a b | c d e f | a b c d | e f a b | c d e f | ...
//
// Vectors are loaded two at a time, so after three pairs everything repeats: these 24 lanes are the
// pattern.  A sum over all vectors at the same place of the pattern holds four partial sums of each
// head, six lanes apart.  Folding adds them up and leaves the heads' sums in the first lanes, the
// compact ones, where softmax works; spreading repeats its results over the whole pattern, so that
// each lines up with the values of its own head.
//
// Compiled once for every instruction set, by files that include it after hwy/foreach_target.h.

#if defined(DRAGOMAN_ENGINE_MATH_ATTEND_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DRAGOMAN_ENGINE_MATH_ATTEND_LANES_INL_H_
#undef DRAGOMAN_ENGINE_MATH_ATTEND_LANES_INL_H_
#else
#define DRAGOMAN_ENGINE_MATH_ATTEND_LANES_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "engine/math/bfloat16.h"
#include "engine/math/row_sums-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman {
namespace HWY_NAMESPACE {

// Loads the elements of a row in vectors, two at a time.
HWY_INLINE void LoadPair(const float* p, V& low, V& high) {
  const D d;
  low = hn::LoadU(d, p);
  high = hn::LoadU(d, p + hn::Lanes(d));
}

// As PackKeyValues lays them out: two vectors of bfloat16 in one vector of 32-bit words, the first
// in the lower halves.
HWY_INLINE void LoadPair(const BFloat16* p, V& low, V& high) {
  const hn::Repartition<uint32_t, D> d32;
  const auto words = hn::LoadU(d32, reinterpret_cast<const uint32_t*>(p));
  low = hn::BitCast(D(), hn::ShiftLeft<16>(words));
  high = hn::BitCast(D(), hn::And(words, hn::Set(d32, 0xFFFF0000u)));
}

// One byte per element, in order.
HWY_INLINE void LoadPair(const int8_t* p, V& low, V& high) {
  const D d;
  const hn::RebindToSigned<D> d32;
  const hn::Rebind<int8_t, D> d8;
  low = hn::ConvertTo(d, hn::PromoteTo(d32, hn::LoadU(d8, p)));
  high = hn::ConvertTo(d, hn::PromoteTo(d32, hn::LoadU(d8, p + hn::Lanes(d))));
}

// A vector of scales.
HWY_INLINE V LoadScales(const BFloat16* p) {
  const hn::RebindToUnsigned<D> d32;
  const hn::Rebind<uint16_t, D> d16;
  return hn::BitCast(D(), hn::ShiftLeft<16>(hn::PromoteTo(
                              d32, hn::LoadU(d16, reinterpret_cast<const uint16_t*>(p)))));
}

// The number of lanes that hold one number for each head: the pattern, if that is a single vector
// or has each head once; otherwise the heads rounded up to whole vectors.  The lanes after the last
// head are unspecified.
HWY_INLINE int CompactLanes(int heads, int pattern) {
  const int lanes = static_cast<int>(hn::Lanes(D()));
  return pattern == lanes || pattern == heads ? pattern : (heads + lanes - 1) / lanes * lanes;
}

// Adds up the kCopies numbers of each head, which are `heads` apart, in halves: (a + c) + (b + d).
// The lanes after the last head add up whatever is there, which may be beyond the pattern by less
// than a vector.
template <int kCopies>
HWY_INLINE void FoldCopies(int heads, float* sums) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int i = 0; i < heads; i += lanes) {
    V copies[kCopies];
#pragma GCC unroll 32
    for (int c = 0; c < kCopies; ++c) copies[c] = hn::LoadU(d, sums + i + c * heads);
    FoldVectors<kCopies>(1, copies);
    hn::StoreU(copies[0], d, sums + i);
  }
}

// The pattern is `heads` times a power of two, at most 32.
HWY_INLINE void FoldPattern(int heads, int pattern, float* sums) {
  switch (pattern / heads) {
    case 2:
      return FoldCopies<2>(heads, sums);
    case 4:
      return FoldCopies<4>(heads, sums);
    case 8:
      return FoldCopies<8>(heads, sums);
    case 16:
      return FoldCopies<16>(heads, sums);
    default:
      return FoldCopies<32>(heads, sums);
  }
}

// Adds up the lanes of each head, in place, into the compact lanes, for n positions with a pattern
// each.  One more pattern follows the last one.
//
// This is done when the patterns of all positions are written: a load that spans two recent stores
// has to wait until both have reached the cache.
HWY_INLINE void FoldLanes(int heads, int pattern, int n, float* sums) {
  if (heads == pattern) return;
  if (CompactLanes(heads, pattern) != pattern) {
    for (int j = 0; j < n; ++j) FoldPattern(heads, pattern, sums + j * pattern);
    return;
  }
#if HWY_TARGET != HWY_SCALAR  // which has no halves
  const D d;
  if (2 * heads == pattern && pattern == static_cast<int>(hn::Lanes(d))) {
    for (int j = 0; j < n; ++j, sums += pattern) {
      const V v = hn::LoadU(d, sums);
      hn::StoreU(hn::Add(v, hn::ConcatLowerUpper(d, v, v)), d, sums);
    }
    return;
  }
#endif
  for (int j = 0; j < n; ++j, sums += pattern) {
    for (int half = pattern / 2; half >= heads; half /= 2) {
      for (int e = 0; e < half; ++e) sums[e] += sums[e + half];
    }
    for (int e = heads; e < pattern; ++e) sums[e] = sums[e - heads];
  }
}

// The reverse: repeats the heads' numbers, the first ones of each pattern, over the whole pattern.
HWY_INLINE void SpreadLanes(int heads, int pattern, int n, float* numbers) {
  if (CompactLanes(heads, pattern) == pattern) return;
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  V first = hn::LoadU(d, numbers);
  for (int j = 0; j < n; ++j, numbers += pattern) {
    const V now = first;
    // Kept here because the last copy is written beyond the pattern, by less than a vector.
    if (j + 1 < n) first = hn::LoadU(d, numbers + pattern);
    HWY_ALIGN float last[HWY_MAX_BYTES / sizeof(float)];
    if (j + 1 == n) hn::Store(hn::Zero(d), d, last);
    for (int to = 0; to < pattern; to += heads) {
      for (int i = 0; i < heads; i += lanes) {
        const V v = i == 0 ? now : hn::LoadU(d, numbers + i);
        if (to + i + lanes <= pattern || j + 1 < n) {
          hn::StoreU(v, d, numbers + to + i);
        } else {
          hn::Store(v, d, last);
          std::copy_n(last, pattern - to - i, numbers + to + i);
        }
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman
HWY_AFTER_NAMESPACE();

#endif  // DRAGOMAN_ENGINE_MATH_ATTEND_LANES_INL_H_
