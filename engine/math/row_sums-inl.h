// Sums over a row that have the same bytes on every instruction set.
//
// The order of its additions decides how a sum is rounded, and vectors of 4, 8 and 16 numbers would
// each suggest another one.  So every sum has 16 lanes: element i goes to lane i mod 16.
//
//   AVX-512   | 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 |          one vector of sums
//   AVX2      | 0 1 2 3 4 5 6 7 | 8 9 10 11 12 13 14 15 |        two
//   NEON      | 0 1 2 3 | 4 5 6 7 | 8 9 10 11 | 12 13 14 15 |    four
//
// In the end they are folded in halves: lane l += lane l + 8, then l + 4, l + 2 and l + 1, which
// adds whole vectors first, and then parts of one.  A row that does not fill all lanes is continued
// by elements that count as nothing.
//
// An element that stands alone goes through the operations of a vector, too: a fused multiplication
// and addition rounds once, and the two apart twice.
//
// Compiled once for every instruction set, by files that include it after hwy/foreach_target.h.

#if defined(DRAGOMAN_ENGINE_MATH_ROW_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DRAGOMAN_ENGINE_MATH_ROW_SUMS_INL_H_
#undef DRAGOMAN_ENGINE_MATH_ROW_SUMS_INL_H_
#else
#define DRAGOMAN_ENGINE_MATH_ROW_SUMS_INL_H_
#endif

#include <algorithm>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
constexpr int kSumLanes = 16;
constexpr int kSumVectors = kSumLanes / kLanes;
static_assert(kSumVectors >= 1, "no vector has more lanes than a sum");

// a * b + c of single numbers, as vectors compute it.
HWY_INLINE float MulAddOne(float a, float b, float c) {
  const hn::CappedTag<float, 1> d;
  return hn::GetLane(hn::MulAdd(hn::Set(d, a), hn::Set(d, b), hn::Set(d, c)));
}

// The elements of a row of n from element i on, and after the last one `filler`.
HWY_INLINE V Load(const float* x, int i, int n, float filler = 0.0f) {
  const D d;
  if (i + kLanes <= n) return hn::LoadU(d, x + i);
  HWY_ALIGN float last[kLanes];
  for (int l = 0; l < kLanes; ++l) last[l] = i + l < n ? x[i + l] : filler;
  return hn::Load(d, last);
}

// Writes those elements of v that the row has.
HWY_INLINE void Store(V v, float* x, int i, int n) {
  const D d;
  if (i + kLanes <= n) return hn::StoreU(v, d, x + i);
  HWY_ALIGN float last[kLanes];
  hn::Store(v, d, last);
  for (int l = 0; i + l < n; ++l) x[i + l] = last[l];
}

// The sum of the lanes of a vector, folded in halves.
template <typename DV>
HWY_INLINE float FoldVector(DV d, hn::Vec<DV> v) {
#if HWY_TARGET != HWY_SCALAR  // which has no halves
  if constexpr (hn::MaxLanes(DV()) > 4) {
    const hn::Half<DV> half;
    return FoldVector(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  } else {
    v = hn::Add(v, hn::Shuffle1032(v));
    v = hn::Add(v, hn::Shuffle2301(v));
  }
#endif
  return hn::GetLane(v);
}

// Folds kVectors vectors of sums in halves until `left` are left, the first ones.
template <int kVectors>
HWY_INLINE void FoldVectors(int left, V* sums) {
#pragma GCC unroll 5
  for (int half = kVectors / 2; half >= 1; half /= 2) {
    if (half < left) break;
#pragma GCC unroll 16
    for (int k = 0; k < half; ++k) sums[k] = hn::Add(sums[k], sums[k + half]);
  }
}

// The sum over the elements of a row of n, where add(sums, i) adds the elements from i on, as many
// as a vector has, to their lanes.  Past the end of the row it has to add nothing.
template <typename AddElements>
HWY_INLINE float SumRow(int n, const AddElements& add) {
  V sums[kSumVectors];
#pragma GCC unroll 16
  for (int k = 0; k < kSumVectors; ++k) sums[k] = hn::Zero(D());
  int i = 0;
  const auto add_all = [&]() HWY_ATTR {
#pragma GCC unroll 16
    for (int k = 0; k < kSumVectors; ++k) sums[k] = add(sums[k], i + k * kLanes);
  };
  for (; i + kSumLanes <= n; i += kSumLanes) add_all();
  if (i < n) add_all();
  FoldVectors<kSumVectors>(1, sums);
  return FoldVector(D(), sums[0]);
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman
HWY_AFTER_NAMESPACE();

#endif  // DRAGOMAN_ENGINE_MATH_ROW_SUMS_INL_H_
