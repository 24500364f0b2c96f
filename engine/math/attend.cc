// Attention over interleaved heads (attend.h).  For 8 heads and vectors of 16 lanes, a row of keys
// looks like this; the letters are heads:
//
//   | a b c d e f g h a b c d e f g h | a b c d e f g h a b c d e f g h | ...
//
// Multiplying it by q and adding up the vectors leaves one vector of 16 sums (row_sums-inl.h),
// those of heads a .. h a .. h; the sum of its two halves is the scores.  They are kept in the same
// pattern of lanes (the scores of all heads, repeated to fill whole vectors), so that softmax can
// walk down the positions without looking at single lanes, and each weight lines up with the values
// of its own head.

#include "engine/math/attend.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/math/attend_task.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/math/attend.cc"
#include "hwy/foreach_target.h"  // compiles this file once for every instruction set
// Highway's headers come after foreach_target.
#include "engine/math/attend_lanes-inl.h"
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE float ToFloat(int8_t x) { return static_cast<float>(x); }
HWY_INLINE float ToFloat(float x) { return x; }
using dragoman::ToFloat;

// attention[j] += weight * exponentials[j * stride] for n positions.
HWY_NOINLINE void AddAttention(const float* exponentials, int n, int stride, float weight,
                               float* attention) {
  for (int j = 0; j < n; ++j) attention[j] += weight * exponentials[j * stride];
}

HWY_INLINE float ExpOne(float x) {
  const hn::CappedTag<float, 1> d;
  return hn::GetLane(hn::Exp(d, hn::Set(d, x)));
}

// The product of a head's elements of a query and of a key, which are `heads` apart.
template <typename T>
float ScoreOne(int heads, int width, int head, const float* q, const T* key) {
  float sums[32] = {};
  int copies = SumsOf(heads) / heads;
  for (int e = head, c = 0; e < width; e += heads, c = (c + 1) % copies) {
    sums[c] = MulAddOne(q[e], ToFloat(key[e]), sums[c]);
  }
  for (copies /= 2; copies >= 1; copies /= 2) {
    for (int c = 0; c < copies; ++c) sums[c] += sums[c + copies];
  }
  return sums[0];
}

// For any number of heads and any width, one element at a time.
template <typename T>
void AttendPlainly(const AttendTask<T>& t, int query) {
  const int n = t.positions();
  const int pattern = PatternOf(t.heads, kLanes);
  const absl::Span<const float> q = t.q.Row(query);
  if (!t.attention.empty()) std::fill_n(t.attention[query], n, 0.0f);
  for (int h = 0; h < t.heads; ++h) {
    float max = -std::numeric_limits<float>::infinity();
    for (int j = 0; j < n; ++j) {
      float score = ScoreOne(t.heads, t.width(), h, q.data(), t.keys(j));
      if constexpr (kScaled<T>) score *= ToFloat(t.scales(j)[h]);
      if (t.bias != nullptr) score += t.bias[(j - query) * pattern + h];
      t.scratch[j] = score;
      max = std::max(max, score);
    }
    float sum = 0.0f;
    for (int j = 0; j < n; ++j) sum += t.scratch[j] = ExpOne(t.scratch[j] - max);
    const float scale = 1.0f / sum;
    if (!t.attention.empty()) {
      AddAttention(t.scratch, n, 1, t.head_weights[h] * scale, t.attention[query]);
    }
    if constexpr (kScaled<T>) {
      for (int j = 0; j < n; ++j) t.scratch[j] *= ToFloat(t.scales(j)[t.heads + h]);
    }
    for (int e = h; e < t.width(); e += t.heads) {
      float out = 0.0f;
      for (int j = 0; j < n; ++j) out = MulAddOne(t.scratch[j], ToFloat(t.values(j)[e]), out);
      t.out.Row(query)[e] = scale * out;
    }
  }
}

// scores = q K^T for kPositions positions starting with `first` and kQueries queries starting with
// `query`, in the pattern of lanes and not yet folded.  The scores of a query start at scratch +
// its index in the group x `stride`.
//
// Of the sums of a query and a position (SumsOf), kSums vectors are computed at once: all 16 of
// them, or two vectors if there are more.
template <int kSums, int kPositions, int kQueries, typename T>
HWY_INLINE void Scores(const AttendTask<T>& t, int pattern, int query, int first, int stride) {
  const D d;
  const int all = SumsOf(t.heads);
  const float* q[kQueries];
  const T* k[kPositions];
  for (int i = 0; i < kQueries; ++i) q[i] = t.q.Row(query + i).data();
  for (int i = 0; i < kPositions; ++i) {
    k[i] = t.keys(first + i);
    t.Fetch(first + i, 0, t.width());
  }
  for (int p = 0; p < all; p += kSums * kLanes) {
    V sums[kQueries][kPositions][kSums];
#pragma GCC unroll 4
    for (int i = 0; i < kQueries; ++i) {
#pragma GCC unroll 8
      for (int j = 0; j < kPositions; ++j) {
#pragma GCC unroll 16
        for (int s = 0; s < kSums; ++s) sums[i][j][s] = hn::Zero(d);
      }
    }
    const int step = std::max(all, 2 * kLanes);
    for (int e = p; e < t.width(); e += step) {
#pragma GCC unroll 8
      for (int s = 0; s < kSums; s += 2) {
        const int at = e + s * kLanes;
        V k0[kPositions], k1[kPositions];
#pragma GCC unroll 8
        for (int j = 0; j < kPositions; ++j) LoadPair(k[j] + at, k0[j], k1[j]);
#pragma GCC unroll 4
        for (int i = 0; i < kQueries; ++i) {
          V q0, q1;
          LoadPair(q[i] + at, q0, q1);
#pragma GCC unroll 8
          for (int j = 0; j < kPositions; ++j) {
            V& low = sums[i][j][s];
            V& high = sums[i][j][kSums == 1 ? 0 : s + 1];
            low = hn::MulAdd(q0, k0[j], low);
            high = hn::MulAdd(q1, k1[j], high);
          }
        }
      }
    }
    // Whole vectors of a head's sums are folded here, the parts of one in FoldLanes.
    const int left = std::min(kSums, std::max(1, pattern / kLanes));
#pragma GCC unroll 4
    for (int i = 0; i < kQueries; ++i) {
#pragma GCC unroll 8
      for (int j = 0; j < kPositions; ++j) {
        float* const to = t.scratch + i * stride + (first + j) * pattern + p;
        FoldVectors<kSums>(left, sums[i][j]);
#pragma GCC unroll 16
        for (int s = 0; s < kSums; ++s) {
          if (s < left) hn::StoreU(sums[i][j][s], d, to + s * kLanes);
        }
      }
    }
  }
}

// The scores of all positions, as many at once as keep 8 vectors of sums in registers, or 16 on
// ARM, which has more of them than x86 with vectors of that length.
template <int kSums, int kQueries, typename T>
HWY_INLINE void AllScores(const AttendTask<T>& t, int pattern, int query, int stride) {
  constexpr int kRegisters = HWY_ARCH_ARM && kSums == 4 ? 16 : 8;
  constexpr int kPositions = kQueries > 1 ? (kSums == 1 ? 2 : 1) : std::max(1, kRegisters / kSums);
  const int n = t.positions();
  int j = 0;
  for (; j + kPositions <= n; j += kPositions) {
    Scores<kSums, kPositions, kQueries>(t, pattern, query, j, stride);
  }
  for (; j < n; ++j) Scores<kSums, 1, kQueries>(t, pattern, query, j, stride);
}

// scores += bias, both for n positions in the compact lanes of a pattern.
HWY_INLINE void AddBias(const float* bias, int n, int pattern, int compact, float* scores) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int j = 0; j < n; ++j, scores += pattern, bias += pattern) {
    for (int p = 0; p < compact; p += lanes) {
      hn::StoreU(hn::Add(hn::LoadU(d, scores + p), hn::LoadU(d, bias + p)), d, scores + p);
    }
  }
}

// Multiplies the numbers of each position, in the compact lanes of a pattern, by the position's
// scales: those of the keys or, if `first` is the pattern, of the values.
template <typename T>
HWY_INLINE void MultiplyByScales(const AttendTask<T>& t, int pattern, int compact, int first,
                                 float* numbers) {
  const D d;
  for (int j = 0; j < t.positions(); ++j) {
    const BFloat16* const scales = t.scales(j) + first;
    for (int p = 0; p < compact; p += static_cast<int>(hn::Lanes(d))) {
      float* const number = numbers + j * pattern + p;
      hn::StoreU(hn::Mul(hn::LoadU(d, number), LoadScales(scales + p)), d, number);
    }
  }
}

// Turns scores into exponentials, and writes the inverse of their sum to `scales`, in the compact
// lanes.
HWY_INLINE void Exponentials(int n, int pattern, int compact, float* scores, float* scales) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int p = 0; p < compact; p += lanes) {
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

// The attention of a query, from its exponentials and the inverse of their sum.
template <typename T>
void WriteAttention(const AttendTask<T>& t, int query, int pattern, const float* exponentials,
                    const float* scales) {
  const int n = t.positions();
  float* const attention = t.attention[query];
  std::fill_n(attention, n, 0.0f);
  for (int h = 0; h < t.heads; ++h) {
    const float weight = t.head_weights[h] * scales[h];
    AddAttention(exponentials + h, n, pattern, weight, attention);
  }
}

// Where in their pattern the weights of some pairs of vectors are.
struct PatternPlaces {
  int low, high;  // of the first pair's vectors
  int step;       // to those of the next pair
};

// out[e ..] = scale * sum over j of weights[j] V[j][e ..] for kPairs pairs of vectors and kQueries
// queries.  The weights and scales of the pairs are `at` these places.
template <int kPairs, int kQueries, typename T>
HWY_INLINE void WeightedSum(const AttendTask<T>& t, int pattern, int query, PatternPlaces at, int e,
                            int stride) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const int n = t.positions();
  V s0[kQueries][kPairs], s1[kQueries][kPairs];
#pragma GCC unroll 4
  for (int i = 0; i < kQueries; ++i) {
#pragma GCC unroll 4
    for (int p = 0; p < kPairs; ++p) s0[i][p] = s1[i][p] = hn::Zero(d);
  }
  for (int j = 0; j < n; ++j) {
    const T* const v = t.values(j) + e;
    t.Fetch(j, t.width() + e, kPairs * 2 * lanes);
    V v0[kPairs], v1[kPairs];
#pragma GCC unroll 4
    for (int p = 0; p < kPairs; ++p) LoadPair(v + p * 2 * lanes, v0[p], v1[p]);
#pragma GCC unroll 4
    for (int i = 0; i < kQueries; ++i) {
      const float* const weights = t.scratch + i * stride + j * pattern;
#pragma GCC unroll 4
      for (int p = 0; p < kPairs; ++p) {
        const V w0 = hn::LoadU(d, weights + at.low + p * at.step);
        const V w1 = hn::LoadU(d, weights + at.high + p * at.step);
        s0[i][p] = hn::MulAdd(w0, v0[p], s0[i][p]);
        s1[i][p] = hn::MulAdd(w1, v1[p], s1[i][p]);
      }
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kQueries; ++i) {
    const float* const scales = t.scratch + i * stride + n * pattern;
    float* const out = t.out.Row(query + i).data() + e;
#pragma GCC unroll 4
    for (int p = 0; p < kPairs; ++p) {
      const V scale0 = hn::LoadU(d, scales + at.low + p * at.step);
      const V scale1 = hn::LoadU(d, scales + at.high + p * at.step);
      hn::StoreU(hn::Mul(scale0, s0[i][p]), d, out + p * 2 * lanes);
      hn::StoreU(hn::Mul(scale1, s1[i][p]), d, out + p * 2 * lanes + lanes);
    }
  }
}

// The whole width, kPairs pairs at a time, the rest one at a time.
// REQUIRES: the pattern is at most one pair long, or a multiple of kPairs pairs.
template <int kPairs, int kQueries, typename T>
HWY_INLINE void WeightedSums(const AttendTask<T>& t, int pattern, int query, int stride) {
  const int lanes = static_cast<int>(hn::Lanes(D()));
  const auto places = [&](int e) HWY_ATTR {
    if (pattern == lanes) return PatternPlaces{0, 0, 0};
    const int low = e % pattern;
    return PatternPlaces{low, low + lanes, pattern == 2 * lanes ? 0 : 2 * lanes};
  };
  int e = 0;
  for (; e + kPairs * 2 * lanes <= t.width(); e += kPairs * 2 * lanes) {
    WeightedSum<kPairs, kQueries>(t, pattern, query, places(e), e, stride);
  }
  for (; e < t.width(); e += 2 * lanes) {
    WeightedSum<1, kQueries>(t, pattern, query, places(e), e, stride);
  }
}

// The queries [query, query + kQueries).  One query alone takes several positions and several pairs
// of vectors at a time instead; in what order a query's numbers are summed is the same.
template <int kQueries, typename T>
void AttendInPairs(const AttendTask<T>& t, int query) {
  constexpr int kPairs = kQueries == 1 ? 4 : 2;
  const int lanes = static_cast<int>(hn::Lanes(D()));
  const int pattern = PatternOf(t.heads, lanes);
  const int compact = CompactLanes(t.heads, pattern);
  const int n = t.positions();
  const int stride = (n + 1) * pattern;
  if (SumsOf(t.heads) == kSumLanes) {
    AllScores<kSumVectors, kQueries>(t, pattern, query, stride);
  } else {
    AllScores<2, kQueries>(t, pattern, query, stride);
  }
  for (int i = 0; i < kQueries; ++i) {
    float* const scores = t.scratch + i * stride;
    FoldLanes(t.heads, pattern, n, scores);
    if constexpr (kScaled<T>) MultiplyByScales(t, pattern, compact, 0, scores);
    if (t.bias != nullptr) AddBias(t.bias - (query + i) * pattern, n, pattern, compact, scores);
    Exponentials(n, pattern, compact, scores, scores + n * pattern);
    if (!t.attention.empty()) {
      WriteAttention(t, query + i, pattern, scores, scores + n * pattern);
    }
    if constexpr (kScaled<T>) MultiplyByScales(t, pattern, compact, pattern, scores);
    SpreadLanes(t.heads, pattern, n + 1, scores);
  }
  if (pattern <= 2 * lanes) return WeightedSums<kPairs, kQueries>(t, pattern, query, stride);
  if constexpr (kQueries == 1) {
    if (pattern % (6 * lanes) == 0) return WeightedSums<3, 1>(t, pattern, query, stride);
    if (pattern % (4 * lanes) == 0) return WeightedSums<2, 1>(t, pattern, query, stride);
  }
  WeightedSums<1, kQueries>(t, pattern, query, stride);
}

template <typename T>
void AttendAny(const AttendTask<T>& t) {
  const int queries = t.q.rows();
  if constexpr (kLanes > 1) {
    if (InPairs(t.heads, t.width(), static_cast<int>(hn::Lanes(D())))) {
      int query = 0;
      for (; query + kQueryGroup <= queries; query += kQueryGroup) {
        AttendInPairs<kQueryGroup>(t, query);
      }
      for (; query < queries; ++query) AttendInPairs<1>(t, query);
      return;
    }
  }
  for (int query = 0; query < queries; ++query) AttendPlainly(t, query);
}

void AttendFloat32(const AttendTask<float>& t) { AttendAny(t); }
void AttendBFloat16(const AttendTask<BFloat16>& t) { AttendAny(t); }
void AttendInt8(const AttendTask<int8_t>& t) { AttendAny(t); }
size_t PatternLanes(int heads) { return PatternOf(heads, static_cast<int>(hn::Lanes(D()))); }

}  // namespace HWY_NAMESPACE
}  // namespace dragoman
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman {
namespace {

HWY_EXPORT(AttendFloat32);
HWY_EXPORT(AttendBFloat16);
HWY_EXPORT(AttendInt8);
HWY_EXPORT(PatternLanes);

template <typename T>
AttendTask<T> MakeTask(const KeyValueFormat& format, MatrixView<const float> q,
                       absl::Span<const std::byte* const> rows, absl::Span<float> scratch,
                       MatrixView<float> out, const AttendOptions& options) {
  DRAGOMAN_CHECK(!rows.empty());
  DRAGOMAN_CHECK(scratch.size() >= AttendScratch(format.heads, rows.size(), q.rows()));
  DRAGOMAN_CHECK(format.width % format.heads == 0 && q.cols() == format.width);
  DRAGOMAN_CHECK(q.cols() == out.cols() && q.rows() == out.rows());
  const bool spread = !options.attention.empty();
  DRAGOMAN_CHECK(!spread || options.attention.size() == static_cast<size_t>(q.rows()));
  DRAGOMAN_CHECK(!spread || options.head_weights.size() == static_cast<size_t>(format.heads));
  return {format.heads,        q,   rows,         options.next,
          scratch.data(),      out, options.bias, options.attention,
          options.head_weights};
}

}  // namespace

void Attend(const KeyValueFormat& format, MatrixView<const float> q,
            absl::Span<const std::byte* const> rows, absl::Span<float> scratch,
            MatrixView<float> out, const AttendOptions& options) {
  switch (format.precision) {
    case Precision::kInt8:
      return HWY_DYNAMIC_DISPATCH(AttendInt8)(
          MakeTask<int8_t>(format, q, rows, scratch, out, options));
    case Precision::kBFloat16:
      return HWY_DYNAMIC_DISPATCH(AttendBFloat16)(
          MakeTask<BFloat16>(format, q, rows, scratch, out, options));
    default:
      return HWY_DYNAMIC_DISPATCH(AttendFloat32)(
          MakeTask<float>(format, q, rows, scratch, out, options));
  }
}

size_t AttendScratch(int heads, size_t positions, int queries) {
  const size_t group = std::min(queries, kQueryGroup);
  return HWY_DYNAMIC_DISPATCH(PatternLanes)(heads) * (positions + 1) * group;
}

size_t BiasWidth(int heads) { return HWY_DYNAMIC_DISPATCH(PatternLanes)(heads); }

}  // namespace dragoman
#endif  // HWY_ONCE
