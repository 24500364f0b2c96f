// Multi-head attention over a list of positions ("Attention Is All You Need", section 3.2, equation
// 1, without the 1 / sqrt(d_k), which the caller has put into the queries): for each head,
//   out = softmax(q K^T) V
//
// Heads are interleaved: element e of a query, of keys, of values and of the output belongs to head
// e mod heads.  So the lanes of a vector are different heads, and there is no sum across lanes
// anywhere; the permutation is made once, in the weights that compute q, k, v and read out.
//
// The keys and values of a position lie in one row of memory, which need not be near any
// other row.  Who reads a sentence's rows in their order reads its memory from one end to the
// other.

#ifndef DRAGOMAN_ENGINE_MATH_ATTEND_H_
#define DRAGOMAN_ENGINE_MATH_ATTEND_H_

#include <cstddef>

#include "absl/types/span.h"
#include "engine/math/key_values.h"
#include "engine/math/matrix.h"

namespace dragoman {

struct AttendOptions {
  // If there is one, it is added to the scores: by the distance between a query and a position, for
  // consecutive queries and positions.  That of query i and the j-th position of the list stands in
  // row j - i from here on; a row has BiasWidth(heads) elements, of which element e belongs to head
  // e mod heads.
  const float* bias = nullptr;
  // If it is not empty: for each query, where to write how its attention is spread over the
  // positions, a number for each: the softmax of every head, summed with the weight of the head.
  absl::Span<float* const> attention = {};
  absl::Span<const float> head_weights = {};  // [heads]; for a mean they sum to 1
  // The rows of the call that comes next.  What is read once in every decoding step lies in no
  // cache, and while weights are summed up memory has nothing to do: so these are fetched
  // meanwhile.
  absl::Span<const std::byte* const> next = {};
};

// Attention of each query, a row of `q` [., width], to the positions whose rows are named, into
// `out` [., width].  Sums go in the order in which positions are named; they are read once for
// several queries.  Keeps the row law: an output depends on its query and the rows' content alone.
// `scratch` has at least AttendScratch(heads, positions, queries) elements.
// REQUIRES: there is at least one position; rows are aligned for the type of their numbers.
void Attend(const KeyValueFormat& format, MatrixView<const float> q,
            absl::Span<const std::byte* const> rows, absl::Span<float> scratch,
            MatrixView<float> out, const AttendOptions& options = {});
size_t AttendScratch(int heads, size_t positions, int queries);
size_t BiasWidth(int heads);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_ATTEND_H_
