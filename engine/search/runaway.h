// Finds a translation that has begun to repeat itself and will not stop, a known failure of
// sequence models: "N N N N N N ..." until the maximum length.
//
// The end of a hypothesis has run away if it consists of one unit of up to kMaxUnit tokens again
// and again, for longer than the source can account for:
//
//   a b c d c d c d c d ...    unit "c d"; kept are a b c d
//
// What the source repeats itself ("no, no, no, no!", a row of dashes) may be repeated twice as
// long.

#ifndef DRAGOMAN_ENGINE_SEARCH_RUNAWAY_H_
#define DRAGOMAN_ENGINE_SEARCH_RUNAWAY_H_

#include <cstdint>

#include "absl/types/span.h"

namespace dragoman {

inline constexpr int kMaxUnit = 24;

// How many tokens the longest run of a unit has in the source, the first unit not counted.
int LongestRepetition(absl::Span<const int32_t> tokens);

// How many of the tokens precede the repetition, with its first unit; 0 if the end is none, or
// is no longer than `allowance` tokens and twice repeated.
int TokensBeforeRepetition(absl::Span<const int32_t> tokens, int allowance);

// How many of the tokens stand before every run of a unit at their end, however short the run: what
// no TokensBeforeRepetition of a longer sequence that begins with them can be less than, nor 0.
//
//   a b c d c   ->  4    the second "c" may be the beginning of "c d c d c d ..."
int TokensBeforeAnyRun(absl::Span<const int32_t> tokens);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_SEARCH_RUNAWAY_H_
