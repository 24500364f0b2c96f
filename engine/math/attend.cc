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
#include <bit>
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
  MatrixView<const float> q;
  MatrixView<const T> keys, values;
  absl::Span<const int32_t> positions;
  float*
      scratch;  // for each query of a group: scores of the positions, and a scale (AttendScratch)
  MatrixView<float> out;
  const float* bias;  // of query 0 and the first position, in the pattern of lanes; or null

  int d_model() const { return q.cols(); }
};

// Queries that read the keys and values together.
constexpr int kQueryGroup = 4;

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
HWY_INLINE float ToFloat(uint16_t x) { return std::bit_cast<float>(uint32_t{x} << 16); }

// Any number of heads and any width, one element at a time.
template <typename T>
void AttendPlainly(const AttendTask<T>& t, int query) {
  const int n = static_cast<int>(t.positions.size());
  const int pattern = std::lcm(t.heads, static_cast<int>(hn::Lanes(D())));
  const absl::Span<const float> q = t.q.Row(query);
  for (int h = 0; h < t.heads; ++h) {
    float max = -std::numeric_limits<float>::infinity();
    for (int j = 0; j < n; ++j) {
      const T* const key = t.keys.Row(t.positions[j]).data();
      float score = 0.0f;
      for (int e = h; e < t.d_model(); e += t.heads) score += q[e] * ToFloat(key[e]);
      if (t.bias != nullptr) score += t.bias[(j - query) * pattern + h];
      t.scratch[j] = score;
      max = std::max(max, score);
    }
    float sum = 0.0f;
    for (int j = 0; j < n; ++j) sum += t.scratch[j] = std::exp(t.scratch[j] - max);
    for (int e = h; e < t.d_model(); e += t.heads) {
      float out = 0.0f;
      for (int j = 0; j < n; ++j) {
        out += t.scratch[j] * ToFloat(t.values.Row(t.positions[j]).data()[e]);
      }
      t.out.Row(query)[e] = out / sum;
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

// scores = q K^T for kPositions positions from `first` on and kQueries queries from `query` on, in
// the pattern of lanes.  The scores of a query begin at scratch + its number in the group x
// `stride`.
template <int kPositions, int kQueries, typename T>
HWY_INLINE void Scores(const AttendTask<T>& t, int pattern, int query, int first, int stride) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const int step = std::max(pattern, 2 * lanes);
  const float* q[kQueries];
  const T* k[kPositions];
  for (int i = 0; i < kQueries; ++i) q[i] = t.q.Row(query + i).data();
  for (int i = 0; i < kPositions; ++i) k[i] = t.keys.Row(t.positions[first + i]).data();
  for (int p = 0; p < pattern; p += 2 * lanes) {
    V low[kQueries][kPositions], high[kQueries][kPositions];
#pragma GCC unroll 4
    for (int i = 0; i < kQueries; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < kPositions; ++j) low[i][j] = high[i][j] = hn::Zero(d);
    }
    for (int e = p; e < t.d_model(); e += step) {
      V k0[kPositions], k1[kPositions];
#pragma GCC unroll 4
      for (int j = 0; j < kPositions; ++j) LoadPair(k[j] + e, k0[j], k1[j]);
#pragma GCC unroll 4
      for (int i = 0; i < kQueries; ++i) {
        V q0, q1;
        LoadPair(q[i] + e, q0, q1);
#pragma GCC unroll 4
        for (int j = 0; j < kPositions; ++j) {
          low[i][j] = hn::MulAdd(q0, k0[j], low[i][j]);
          high[i][j] = hn::MulAdd(q1, k1[j], high[i][j]);
        }
      }
    }
    // A pattern of one vector has its sum in two; a longer one in as many as it has.
#pragma GCC unroll 4
    for (int i = 0; i < kQueries; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < kPositions; ++j) {
        float* const to = t.scratch + i * stride + (first + j) * pattern + p;
        if (pattern == lanes) {
          hn::StoreU(hn::Add(low[i][j], high[i][j]), d, to);
        } else {
          hn::StoreU(low[i][j], d, to);
          hn::StoreU(high[i][j], d, to + lanes);
        }
      }
    }
  }
  for (int i = 0; i < kQueries; ++i) {
    for (int j = 0; j < kPositions; ++j) {
      FoldLanes(t.heads, pattern, t.scratch + i * stride + (first + j) * pattern);
    }
  }
}

// scores += bias, both of n positions in the pattern of lanes.
HWY_INLINE void AddBias(const float* bias, int n, int pattern, float* scores) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int i = 0; i < n * pattern; i += lanes) {
    hn::StoreU(hn::Add(hn::LoadU(d, scores + i), hn::LoadU(d, bias + i)), d, scores + i);
  }
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

// out[e ..] = scale * sum over j of weights[j] V[j][e ..] for kPairs pairs of vectors and kQueries
// queries.  The weights and scales of the first vector of a pair stand at `low`, those of the
// second at `high` of their pattern.
template <int kPairs, int kQueries, typename T>
HWY_INLINE void WeightedSum(const AttendTask<T>& t, int pattern, int query, int low, int high,
                            int e, int stride) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const int n = static_cast<int>(t.positions.size());
  V s0[kQueries][kPairs], s1[kQueries][kPairs];
#pragma GCC unroll 4
  for (int i = 0; i < kQueries; ++i) {
#pragma GCC unroll 4
    for (int p = 0; p < kPairs; ++p) s0[i][p] = s1[i][p] = hn::Zero(d);
  }
  for (int j = 0; j < n; ++j) {
    const T* const v = t.values.Row(t.positions[j]).data() + e;
    V v0[kPairs], v1[kPairs];
#pragma GCC unroll 4
    for (int p = 0; p < kPairs; ++p) LoadPair(v + p * 2 * lanes, v0[p], v1[p]);
#pragma GCC unroll 4
    for (int i = 0; i < kQueries; ++i) {
      const float* const weights = t.scratch + i * stride + j * pattern;
      const V w0 = hn::LoadU(d, weights + low), w1 = hn::LoadU(d, weights + high);
#pragma GCC unroll 4
      for (int p = 0; p < kPairs; ++p) {
        s0[i][p] = hn::MulAdd(w0, v0[p], s0[i][p]);
        s1[i][p] = hn::MulAdd(w1, v1[p], s1[i][p]);
      }
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kQueries; ++i) {
    const float* const scales = t.scratch + i * stride + n * pattern;
    const V scale0 = hn::LoadU(d, scales + low), scale1 = hn::LoadU(d, scales + high);
    float* const out = t.out.Row(query + i).data() + e;
#pragma GCC unroll 4
    for (int p = 0; p < kPairs; ++p) {
      hn::StoreU(hn::Mul(scale0, s0[i][p]), d, out + p * 2 * lanes);
      hn::StoreU(hn::Mul(scale1, s1[i][p]), d, out + p * 2 * lanes + lanes);
    }
  }
}

// The queries [query, query + kQueries).  One query alone takes several positions and several pairs
// of vectors at a time instead; in what order a query's numbers are summed is the same.
template <int kQueries, typename T>
void AttendInPairs(const AttendTask<T>& t, int query) {
  constexpr int kPositions = kQueries == 1 ? 4 : 1;
  constexpr int kPairs = kQueries == 1 ? 4 : 2;
  const int lanes = static_cast<int>(hn::Lanes(D()));
  const int pattern = std::lcm(t.heads, lanes);
  const int n = static_cast<int>(t.positions.size());
  const int stride = (n + 1) * pattern;
  int j = 0;
  for (; j + kPositions <= n; j += kPositions) {
    Scores<kPositions, kQueries>(t, pattern, query, j, stride);
  }
  for (; j < n; ++j) Scores<1, kQueries>(t, pattern, query, j, stride);
  for (int i = 0; i < kQueries; ++i) {
    float* const scores = t.scratch + i * stride;
    if (t.bias != nullptr) AddBias(t.bias - (query + i) * pattern, n, pattern, scores);
    Exponentials(n, pattern, scores, scores + n * pattern);
  }
  int e = 0;
  if (pattern == lanes) {
    for (; e + kPairs * 2 * lanes <= t.d_model(); e += kPairs * 2 * lanes) {
      WeightedSum<kPairs, kQueries>(t, pattern, query, 0, 0, e, stride);
    }
  }
  for (; e < t.d_model(); e += 2 * lanes) {
    WeightedSum<1, kQueries>(t, pattern, query, e % pattern, (e + lanes) % pattern, e, stride);
  }
}

template <typename T>
void AttendAny(const AttendTask<T>& t) {
  const bool in_pairs = InPairs(t.heads, t.d_model());
  for (int query = 0; query < t.q.rows(); query += kQueryGroup) {
    const int group = std::min(kQueryGroup, t.q.rows() - query);
    if (!in_pairs) {
      for (int i = 0; i < group; ++i) AttendPlainly(t, query + i);
    } else if (group == 4) {
      AttendInPairs<4>(t, query);
    } else if (group == 3) {
      AttendInPairs<3>(t, query);
    } else if (group == 2) {
      AttendInPairs<2>(t, query);
    } else {
      AttendInPairs<1>(t, query);
    }
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
AttendTask<T> MakeTask(int heads, MatrixView<const float> q, MatrixView<const T> keys,
                       MatrixView<const T> values, absl::Span<const int32_t> positions,
                       absl::Span<float> scratch, MatrixView<float> out, const float* bias) {
  DRAGOMAN_CHECK(!positions.empty());
  DRAGOMAN_CHECK(scratch.size() >= AttendScratch(heads, positions.size(), q.rows()));
  DRAGOMAN_CHECK(q.cols() % heads == 0 && q.cols() == out.cols() && q.rows() == out.rows());
  DRAGOMAN_CHECK(q.cols() == keys.cols() && keys.cols() == values.cols());
  return {heads, q, keys, values, positions, scratch.data(), out, bias};
}

}  // namespace

void Attend(int heads, MatrixView<const float> q, MatrixView<const float> keys,
            MatrixView<const float> values, absl::Span<const int32_t> positions,
            absl::Span<float> scratch, MatrixView<float> out, const float* bias) {
  HWY_DYNAMIC_DISPATCH(AttendFloat32)
  (MakeTask(heads, q, keys, values, positions, scratch, out, bias));
}

void Attend(int heads, MatrixView<const float> q, MatrixView<const uint16_t> keys,
            MatrixView<const uint16_t> values, absl::Span<const int32_t> positions,
            absl::Span<float> scratch, MatrixView<float> out, const float* bias) {
  HWY_DYNAMIC_DISPATCH(AttendBFloat16)
  (MakeTask(heads, q, keys, values, positions, scratch, out, bias));
}

void PackBFloat16(int heads, MatrixView<const float> x, MatrixView<uint16_t> out) {
  DRAGOMAN_CHECK(x.rows() == out.rows() && x.cols() == out.cols());
  if (!HWY_DYNAMIC_DISPATCH(InPairs)(heads, x.cols())) return ToBFloat16(x, out);
  for (int r = 0; r < x.rows(); ++r) {
    HWY_DYNAMIC_DISPATCH(PackRow)(x.Row(r).data(), x.cols(), out.Row(r).data());
  }
}

size_t AttendScratch(int heads, size_t positions, int queries) {
  const size_t group = std::min(queries, kQueryGroup);
  return HWY_DYNAMIC_DISPATCH(PatternLanes)(heads) * (positions + 1) * group;
}

size_t BiasWidth(int heads) { return HWY_DYNAMIC_DISPATCH(PatternLanes)(heads); }

}  // namespace dragoman
#endif  // HWY_ONCE
