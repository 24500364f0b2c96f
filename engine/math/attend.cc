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

// The elements of a row in vectors, two at a time.
HWY_INLINE void LoadPair(const float* p, V& low, V& high) {
  const D d;
  low = hn::LoadU(d, p);
  high = hn::LoadU(d, p + hn::Lanes(d));
}

// As PackBFloat16 lays them: two vectors of bfloat16 in one of 32 bit words, the first in the lower
// halves.
HWY_INLINE void LoadPair(const uint16_t* p, V& low, V& high) {
  const hn::Repartition<uint32_t, D> d32;
  const auto words = hn::LoadU(d32, reinterpret_cast<const uint32_t*>(p));
  low = hn::BitCast(D(), hn::ShiftLeft<16>(words));
  high = hn::BitCast(D(), hn::And(words, hn::Set(d32, 0xFFFF0000u)));
}

// Whether rows of so many elements go through the vectors in pairs: else they are read one element
// at a time, and bfloat16 lies in its natural order.
bool InPairs(int heads, int elements) {
  const int lanes = static_cast<int>(hn::Lanes(D()));
  const int pattern = std::lcm(heads, lanes);
  const bool whole_patterns = pattern == lanes || pattern % (2 * lanes) == 0;
  return whole_patterns && elements % std::lcm(pattern, 2 * lanes) == 0;
}

// REQUIRES: InPairs(heads, n).
void PackRow(const float* x, int n, uint16_t* out) {
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

// scores = q K^T for the positions [first, first + kCount), in the pattern of lanes.
template <int kCount, typename T>
HWY_INLINE void Scores(const AttendTask<T>& t, int pattern, int first, float* scores) {
  static_assert(kCount == 1 || kCount == 4);
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const int d_model = static_cast<int>(t.q.size());
  const int step = std::max(pattern, 2 * lanes);
  const T* k[4];
  for (int i = 0; i < 4; ++i) k[i] = t.keys.Row(t.positions[first + (i < kCount ? i : 0)]).data();
  for (int p = 0; p < pattern; p += 2 * lanes) {
    V a0 = hn::Zero(d), a1 = a0, a2 = a0, a3 = a0, b0 = a0, b1 = a0, b2 = a0, b3 = a0;
    for (int e = p; e < d_model; e += step) {
      V q0, q1, k0, k1;
      LoadPair(t.q.data() + e, q0, q1);
      LoadPair(k[0] + e, k0, k1);
      a0 = hn::MulAdd(q0, k0, a0);
      b0 = hn::MulAdd(q1, k1, b0);
      if constexpr (kCount == 4) {
        LoadPair(k[1] + e, k0, k1);
        a1 = hn::MulAdd(q0, k0, a1);
        b1 = hn::MulAdd(q1, k1, b1);
        LoadPair(k[2] + e, k0, k1);
        a2 = hn::MulAdd(q0, k0, a2);
        b2 = hn::MulAdd(q1, k1, b2);
        LoadPair(k[3] + e, k0, k1);
        a3 = hn::MulAdd(q0, k0, a3);
        b3 = hn::MulAdd(q1, k1, b3);
      }
    }
    // A pattern of one vector has its sum in two; a longer one in as many as it has.
    const auto store = [&](V a, V b, float* to) {
      if (pattern == lanes) {
        hn::StoreU(hn::Add(a, b), d, to);
      } else {
        hn::StoreU(a, d, to + p);
        hn::StoreU(b, d, to + p + lanes);
      }
    };
    store(a0, b0, scores);
    if constexpr (kCount == 4) {
      store(a1, b1, scores + pattern);
      store(a2, b2, scores + 2 * pattern);
      store(a3, b3, scores + 3 * pattern);
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

// out[e ..] = scale * sum over j of weights[j] V[j][e ..] for kPairs pairs of vectors.  The weights
// and scales of the first vector of a pair stand at `first`, those of the second at `second`.
template <int kPairs, typename T>
HWY_INLINE void WeightedSum(const AttendTask<T>& t, int pattern, int first, int second, int e) {
  static_assert(kPairs == 1 || kPairs == 4);
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const int n = static_cast<int>(t.positions.size());
  V s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
  for (int j = 0; j < n; ++j) {
    const V w0 = hn::LoadU(d, t.scratch + j * pattern + first);
    const V w1 = hn::LoadU(d, t.scratch + j * pattern + second);
    const T* const v = t.values.Row(t.positions[j]).data() + e;
    V v0, v1;
    LoadPair(v, v0, v1);
    s0 = hn::MulAdd(w0, v0, s0);
    s1 = hn::MulAdd(w1, v1, s1);
    if constexpr (kPairs == 4) {
      LoadPair(v + 2 * lanes, v0, v1);
      s2 = hn::MulAdd(w0, v0, s2);
      s3 = hn::MulAdd(w1, v1, s3);
      LoadPair(v + 4 * lanes, v0, v1);
      s4 = hn::MulAdd(w0, v0, s4);
      s5 = hn::MulAdd(w1, v1, s5);
      LoadPair(v + 6 * lanes, v0, v1);
      s6 = hn::MulAdd(w0, v0, s6);
      s7 = hn::MulAdd(w1, v1, s7);
    }
  }
  const V scale0 = hn::LoadU(d, t.scratch + n * pattern + first);
  const V scale1 = hn::LoadU(d, t.scratch + n * pattern + second);
  const auto store = [&](V a, V b, float* to) {
    hn::StoreU(hn::Mul(scale0, a), d, to);
    hn::StoreU(hn::Mul(scale1, b), d, to + lanes);
  };
  store(s0, s1, t.out + e);
  if constexpr (kPairs == 4) {
    store(s2, s3, t.out + e + 2 * lanes);
    store(s4, s5, t.out + e + 4 * lanes);
    store(s6, s7, t.out + e + 6 * lanes);
  }
}

template <typename T>
void AttendInPairs(const AttendTask<T>& t) {
  const int lanes = static_cast<int>(hn::Lanes(D()));
  const int pattern = std::lcm(t.heads, lanes);
  const int n = static_cast<int>(t.positions.size());
  const int d_model = static_cast<int>(t.q.size());
  int j = 0;
  for (; j + 4 <= n; j += 4) Scores<4>(t, pattern, j, t.scratch + j * pattern);
  for (; j < n; ++j) Scores<1>(t, pattern, j, t.scratch + j * pattern);
  Exponentials(n, pattern, t.scratch, t.scratch + n * pattern);
  int e = 0;
  if (pattern == lanes) {
    for (; e + 8 * lanes <= d_model; e += 8 * lanes) WeightedSum<4>(t, pattern, 0, 0, e);
  }
  for (; e < d_model; e += 2 * lanes) {
    WeightedSum<1>(t, pattern, e % pattern, (e + lanes) % pattern, e);
  }
}

template <typename T>
void AttendAny(const AttendTask<T>& t) {
  if (InPairs(t.heads, static_cast<int>(t.q.size()))) {
    AttendInPairs(t);
  } else {
    AttendPlainly(t);
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
HWY_EXPORT(InPairs);
HWY_EXPORT(PackRow);
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

void PackBFloat16(int heads, MatrixView<const float> x, MatrixView<uint16_t> out) {
  DRAGOMAN_CHECK(x.rows() == out.rows() && x.cols() == out.cols());
  if (!HWY_DYNAMIC_DISPATCH(InPairs)(heads, x.cols())) return ToBFloat16(x, out);
  for (int r = 0; r < x.rows(); ++r) {
    HWY_DYNAMIC_DISPATCH(PackRow)(x.Row(r).data(), x.cols(), out.Row(r).data());
  }
}

size_t AttendScratch(int heads, size_t positions) {
  return HWY_DYNAMIC_DISPATCH(PatternLanes)(heads) * (positions + 1);
}

}  // namespace dragoman
#endif  // HWY_ONCE
