// Multi-head attention over a list of positions ("Attention Is All You Need", section 3.2, equation
// 1, without the 1 / sqrt(d_k), which the caller has applied to the queries): for each head,
//   out = softmax(q K^T) V
//
// Heads are interleaved: element e of a query, of keys, of values and of the output belongs to head
// e mod heads.  So the lanes of a vector are different heads, and nothing is ever summed across
// lanes.  The permutation is applied once, to the weights that compute q, k and v and read the
// output.
//
// The keys and values of a position are one row of memory; rows need not be near each other.  Rows
// that are named in the order of their addresses are read from one end of memory to the other.

#ifndef DRAGOMAN_ENGINE_MATH_ATTEND_H_
#define DRAGOMAN_ENGINE_MATH_ATTEND_H_

#include <cstddef>

#include "absl/types/span.h"
#include "engine/math/key_values.h"
#include "engine/math/matrix.h"

namespace dragoman {

struct AttendOptions {
  // Optional.  Added to the scores, by the distance between a query and a position, for consecutive
  // queries and positions.  The bias of query i and the j-th position of the list is in row j - i
  // from here.  A row has BiasWidth(heads) elements; element e belongs to head e mod heads.
  const float* bias = nullptr;
  // Unless empty: for each query, where to write how its attention is distributed over the
  // positions, one number per position: the softmax of each head, summed with that head's weight.
  absl::Span<float* const> attention = {};
  absl::Span<const float> head_weights = {};  // [heads]; they sum to 1 for a mean
  // The rows that the next call will read.  Rows that are read once per decoding step are in no
  // cache, and memory is idle while weights are summed, so these are prefetched then.
  absl::Span<const std::byte* const> next = {};
};

// Attention of each query, a row of `q` [., width], to the positions whose rows are named, into
// `out` [., width].  Sums follow the order of the named positions, which are read once for several
// queries.  Keeps the row law: an output depends only on its query and the content of the rows.
// `scratch` has at least AttendScratch(heads, positions, queries) elements.  REQUIRES: at least one
// position; rows are aligned for the type of their numbers.
void Attend(const KeyValueFormat& format, MatrixView<const float> q,
            absl::Span<const std::byte* const> rows, absl::Span<float> scratch,
            MatrixView<float> out, const AttendOptions& options = {});
size_t AttendScratch(int heads, size_t positions, int queries);
size_t BiasWidth(int heads);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_ATTEND_H_
