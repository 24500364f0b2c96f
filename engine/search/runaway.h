// Detects a translation that has started to repeat itself and will not stop, a known failure of
// sequence models: "N N N N N N ..." until the maximum length.
//
// The end of a hypothesis has run away if it consists of one unit of up to kMaxUnit tokens,
// repeated for longer than the source can account for:
//
//   a b c d c d c d c d ...    unit "c d"; a b c d is kept
//
// Where the source repeats itself ("no, no, no, no!", a row of dashes), the translation may repeat
// itself for twice as long.

#ifndef DRAGOMAN_ENGINE_SEARCH_RUNAWAY_H_
#define DRAGOMAN_ENGINE_SEARCH_RUNAWAY_H_

#include <cstdint>

#include "absl/types/span.h"

namespace dragoman {

inline constexpr int kMaxUnit = 24;

// The length in tokens of the longest repetition of a unit in the source, not counting its first
// occurrence.
int LongestRepetition(absl::Span<const int32_t> tokens);

// The number of tokens up to and including the first unit of the repetition at the end; 0 if there
// is no repetition there, or if it is no longer than `allowance` tokens and repeated only twice.
int TokensBeforeRepetition(absl::Span<const int32_t> tokens, int allowance);

// The number of tokens before any run of a unit at the end, however short.  If more tokens follow,
// TokensBeforeRepetition of the longer sequence is 0 or at least this.
//
//   a b c d c   ->  4    the second "c" may be the start of "c d c d c d ..."
int TokensBeforeAnyRun(absl::Span<const int32_t> tokens);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_SEARCH_RUNAWAY_H_
