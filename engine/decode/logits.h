// From one row of logits to its best continuations: the logits processors of Hugging Face, in their
// order (repetition penalty, no-repeat n-gram, bad words, minimum length, forced bos, forced eos,
// renormalization), log-softmax and top-k.
//
// Beam search applies the processors to log-probabilities, greedy search to raw logits; this
// matters for the repetition penalty alone.  A row's result depends on nothing but the row and its
// hypothesis.

#ifndef DRAGOMAN_ENGINE_DECODE_LOGITS_H_
#define DRAGOMAN_ENGINE_DECODE_LOGITS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "engine/decode/beam.h"
#include "engine/decode/search_options.h"

namespace dragoman {

// Appends the best `k` continuations of hypothesis number `parent`, which has generated `tokens` so
// far, to `out`, best first; ties go to the lower token.  Banned tokens and NaN are never among
// them, so there can be fewer than k.  Overwrites `logits` (the whole row [vocabulary]).
// Candidate::log_prob is the processed log-probability under both searches: what greedy search
// chooses by its processed raw logits, it reports by the log-softmax of the raw logits (of the
// processed ones with renormalize_logits).  A forced token is the only continuation and has
// log-probability 0, whatever the row says.
// REQUIRES: k >= 1; the tokens and the forced ids are inside of the vocabulary.
void RankContinuations(const SearchOptions& options, absl::Span<const int32_t> tokens, int parent,
                       int k, absl::Span<float> logits, std::vector<Candidate>* out);

// log(sum(exp(row))) to a few units in the last place, the same for the same row on every call.
// NaN counts as -inf; -inf for a row of nothing else, +inf for a row with a +inf.
float LogSumExp(absl::Span<const float> row);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_LOGITS_H_
