// Attention over interleaved heads (kernels.h).  For 8 heads and vectors of 16 lanes, a row of keys
// looks like this, the letters being heads:
//
//   | a b c d e f g h a b c d e f g h | a b c d e f g h a b c d e f g h | ...
//
// Multiplying it by q and adding up the vectors leaves one vector whose lanes are partial sums of
// heads a .. h a .. h; its halves added are the scores.  They are kept in the same pattern of lanes
// (the scores of all heads, repeated up to a whole number of vectors), so that softmax goes down
// the positions without looking at single lanes, and a weight meets the values of its own head.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/math/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/math/attend.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every instruction set
// Highway's headers come after foreach_target.
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

#ifndef DRAGOMAN_ATTEND_TASK_
#define DRAGOMAN_ATTEND_TASK_
namespace dragoman {

template <typename T>
struct AttendTask {
  int heads;
  absl::Span<const float> q;
  MatrixView<const T> keys, values;
  absl::Span<const int32_t> positions;
  float* scratch;
  float* out;
};

}  // namespace dragoman
#endif  // DRAGOMAN_ATTEND_TASK_

HWY_BEFORE_NAMESPACE();
namespace dragoman {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

HWY_INLINE V Load(const float* p) { return hn::LoadU(D(), p); }
HWY_INLINE V Load(const uint16_t* p) {
  const hn::Repartition<uint32_t, D> d32;
  const hn::Rebind<uint16_t, D> d16;
  return hn::BitCast(D(), hn::ShiftLeft<16>(hn::PromoteTo(d32, hn::LoadU(d16, p))));
}

HWY_INLINE float ToFloat(float x) { return x; }
HWY_INLINE float ToFloat(uint16_t x) { return hwy::F32FromBF16(hwy::bfloat16_t{x}); }

// Any number of heads and any width, one element at a time.
template <typename T>
void AttendPlainly(const AttendTask<T>& t) {
  const int n = static_cast<int>(t.positions.size());
  const int d_model = static_cast<int>(t.q.size());
  for (int h = 0; h < t.heads; ++h) {
    float max = -std::numeric_limits<float>::infinity();
    for (int j = 0; j < n; ++j) {
      const T* const key = t.keys.Row(t.positions[j]).data();
      float score = 0.0f;
      for (int e = h; e < d_model; e += t.heads) score += t.q[e] * ToFloat(key[e]);
      t.scratch[j] = score;
      max = std::max(max, score);
    }
    float sum = 0.0f;
    for (int j = 0; j < n; ++j) sum += t.scratch[j] = std::exp(t.scratch[j] - max);
    for (int e = h; e < d_model; e += t.heads) {
      float out = 0.0f;
      for (int j = 0; j < n; ++j) {
        out += t.scratch[j] * ToFloat(t.values.Row(t.positions[j]).data()[e]);
      }
      t.out[e] = out / sum;
    }
  }
}

// Adds up the lanes of each head in the `pattern` floats at `sums`, in place, into every lane of
// it.
HWY_INLINE void FoldLanes(int heads, int pattern, float* sums) {
  if (heads == pattern) return;
#if HWY_TARGET != HWY_SCALAR  // which has no halves
  const D d;
  if (2 * heads == pattern && pattern == static_cast<int>(hn::Lanes(d))) {
    const V v = hn::LoadU(d, sums);
    hn::StoreU(hn::Add(v, hn::ConcatLowerUpper(d, v, v)), d, sums);
    return;
  }
#endif
  for (int h = 0; h < heads; ++h) {
    float sum = 0.0f;
    for (int e = h; e < pattern; e += heads) sum += sums[e];
    for (int e = h; e < pattern; e += heads) sums[e] = sum;
  }
}

// scores[j] = q K^T for the positions [first, first + kCount), in the pattern of lanes.  Each score
// has two sums, of the vectors in turn.
template <int kCount, typename T>
HWY_INLINE void Scores(const AttendTask<T>& t, int pattern, int first, float* scores) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const int d_model = static_cast<int>(t.q.size());
  const T* k[4];
  for (int i = 0; i < 4; ++i) k[i] = t.keys.Row(t.positions[first + (i < kCount ? i : 0)]).data();
  for (int p = 0; p < pattern; p += lanes) {
    V a0 = hn::Zero(d), a1 = a0, a2 = a0, a3 = a0, b0 = a0, b1 = a0, b2 = a0, b3 = a0;
    int e = p;
    for (; e + pattern < d_model; e += 2 * pattern) {
      const V q0 = Load(t.q.data() + e), q1 = Load(t.q.data() + e + pattern);
      a0 = hn::MulAdd(q0, Load(k[0] + e), a0);
      b0 = hn::MulAdd(q1, Load(k[0] + e + pattern), b0);
      if constexpr (kCount == 4) {
        a1 = hn::MulAdd(q0, Load(k[1] + e), a1);
        b1 = hn::MulAdd(q1, Load(k[1] + e + pattern), b1);
        a2 = hn::MulAdd(q0, Load(k[2] + e), a2);
        b2 = hn::MulAdd(q1, Load(k[2] + e + pattern), b2);
        a3 = hn::MulAdd(q0, Load(k[3] + e), a3);
        b3 = hn::MulAdd(q1, Load(k[3] + e + pattern), b3);
      }
    }
    if (e < d_model) {
      const V q0 = Load(t.q.data() + e);
      a0 = hn::MulAdd(q0, Load(k[0] + e), a0);
      if constexpr (kCount == 4) {
        a1 = hn::MulAdd(q0, Load(k[1] + e), a1);
        a2 = hn::MulAdd(q0, Load(k[2] + e), a2);
        a3 = hn::MulAdd(q0, Load(k[3] + e), a3);
      }
    }
    hn::StoreU(hn::Add(a0, b0), d, scores + p);
    if constexpr (kCount == 4) {
      hn::StoreU(hn::Add(a1, b1), d, scores + pattern + p);
      hn::StoreU(hn::Add(a2, b2), d, scores + 2 * pattern + p);
      hn::StoreU(hn::Add(a3, b3), d, scores + 3 * pattern + p);
    }
  }
  for (int i = 0; i < kCount; ++i) FoldLanes(t.heads, pattern, scores + i * pattern);
}

// Scores to exponentials, and the inverse of their sum into `scales` [pattern].
HWY_INLINE void Exponentials(int n, int pattern, float* scores, float* scales) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int p = 0; p < pattern; p += lanes) {
    V max = hn::LoadU(d, scores + p);
    for (int j = 1; j < n; ++j) max = hn::Max(max, hn::LoadU(d, scores + j * pattern + p));
    V sum = hn::Zero(d);
    for (int j = 0; j < n; ++j) {
      float* const score = scores + j * pattern + p;
      const V e = hn::Exp(d, hn::Sub(hn::LoadU(d, score), max));
      hn::StoreU(e, d, score);
      sum = hn::Add(sum, e);
    }
    hn::StoreU(hn::Div(hn::Set(d, 1.0f), sum), d, scales + p);
  }
}

// out[e ..] = scale * sum over j of weights[j] V[j][e ..] for kVectors vectors whose weights and
// scales stand at `weights` and `scales`.
template <int kVectors, typename T>
HWY_INLINE void WeightedSum(const AttendTask<T>& t, int pattern, const float* weights,
                            const float* scales, int e) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  V s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
  const int n = static_cast<int>(t.positions.size());
  for (int j = 0; j < n; ++j) {
    const V w = hn::LoadU(d, weights + j * pattern);
    const T* const v = t.values.Row(t.positions[j]).data() + e;
    s0 = hn::MulAdd(w, Load(v), s0);
    if constexpr (kVectors == 8) {
      s1 = hn::MulAdd(w, Load(v + lanes), s1);
      s2 = hn::MulAdd(w, Load(v + 2 * lanes), s2);
      s3 = hn::MulAdd(w, Load(v + 3 * lanes), s3);
      s4 = hn::MulAdd(w, Load(v + 4 * lanes), s4);
      s5 = hn::MulAdd(w, Load(v + 5 * lanes), s5);
      s6 = hn::MulAdd(w, Load(v + 6 * lanes), s6);
      s7 = hn::MulAdd(w, Load(v + 7 * lanes), s7);
    }
  }
  const V scale = hn::LoadU(d, scales);
  float* const out = t.out + e;
  hn::StoreU(hn::Mul(scale, s0), d, out);
  if constexpr (kVectors == 8) {
    hn::StoreU(hn::Mul(scale, s1), d, out + lanes);
    hn::StoreU(hn::Mul(scale, s2), d, out + 2 * lanes);
    hn::StoreU(hn::Mul(scale, s3), d, out + 3 * lanes);
    hn::StoreU(hn::Mul(scale, s4), d, out + 4 * lanes);
    hn::StoreU(hn::Mul(scale, s5), d, out + 5 * lanes);
    hn::StoreU(hn::Mul(scale, s6), d, out + 6 * lanes);
    hn::StoreU(hn::Mul(scale, s7), d, out + 7 * lanes);
  }
}

template <typename T>
void AttendInLanes(const AttendTask<T>& t, int pattern) {
  const int lanes = static_cast<int>(hn::Lanes(D()));
  const int n = static_cast<int>(t.positions.size());
  const int d_model = static_cast<int>(t.q.size());
  float* const weights = t.scratch;
  float* const scales = weights + n * pattern;
  int j = 0;
  for (; j + 4 <= n; j += 4) Scores<4>(t, pattern, j, weights + j * pattern);
  for (; j < n; ++j) Scores<1>(t, pattern, j, weights + j * pattern);
  Exponentials(n, pattern, weights, scales);
  int e = 0;
  if (pattern == lanes) {
    for (; e + 8 * lanes <= d_model; e += 8 * lanes) {
      WeightedSum<8>(t, pattern, weights, scales, e);
    }
  }
  for (; e < d_model; e += lanes) {
    WeightedSum<1>(t, pattern, weights + e % pattern, scales + e % pattern, e);
  }
}

template <typename T>
void AttendAny(const AttendTask<T>& t) {
  const int pattern = std::lcm(t.heads, static_cast<int>(hn::Lanes(D())));
  if (t.q.size() % pattern != 0) {
    AttendPlainly(t);
  } else {
    AttendInLanes(t, pattern);
  }
}

void AttendFloat32(const AttendTask<float>& t) { AttendAny(t); }
void AttendBFloat16(const AttendTask<uint16_t>& t) { AttendAny(t); }
size_t PatternLanes(int heads) { return std::lcm(heads, static_cast<int>(hn::Lanes(D()))); }

}  // namespace HWY_NAMESPACE
}  // namespace dragoman
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman {
namespace {

HWY_EXPORT(AttendFloat32);
HWY_EXPORT(AttendBFloat16);
HWY_EXPORT(PatternLanes);

template <typename T>
AttendTask<T> MakeTask(int heads, absl::Span<const float> q, MatrixView<const T> keys,
                       MatrixView<const T> values, absl::Span<const int32_t> positions,
                       absl::Span<float> scratch, absl::Span<float> out) {
  DRAGOMAN_CHECK(!positions.empty() && scratch.size() >= AttendScratch(heads, positions.size()));
  DRAGOMAN_CHECK(q.size() % heads == 0 && q.size() == out.size());
  DRAGOMAN_CHECK(static_cast<int>(q.size()) == keys.cols() && keys.cols() == values.cols());
  return {heads, q, keys, values, positions, scratch.data(), out.data()};
}

}  // namespace

void Attend(int heads, absl::Span<const float> q, MatrixView<const float> keys,
            MatrixView<const float> values, absl::Span<const int32_t> positions,
            absl::Span<float> scratch, absl::Span<float> out) {
  HWY_DYNAMIC_DISPATCH(AttendFloat32)
  (MakeTask(heads, q, keys, values, positions, scratch, out));
}

void Attend(int heads, absl::Span<const float> q, MatrixView<const uint16_t> keys,
            MatrixView<const uint16_t> values, absl::Span<const int32_t> positions,
            absl::Span<float> scratch, absl::Span<float> out) {
  HWY_DYNAMIC_DISPATCH(AttendBFloat16)
  (MakeTask(heads, q, keys, values, positions, scratch, out));
}

size_t AttendScratch(int heads, size_t positions) {
  return HWY_DYNAMIC_DISPATCH(PatternLanes)(heads) * (positions + 1);
}

}  // namespace dragoman
#endif  // HWY_ONCE
