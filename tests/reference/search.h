// The search of Hugging Face transformers, transcribed array by array from its "vectorized" beam
// search (4.50 and later), with full sorted lists and placeholders of -1e9.  Tests compare the
// engine's Beam with it.

#ifndef DRAGOMAN_TESTS_REFERENCE_SEARCH_H_
#define DRAGOMAN_TESTS_REFERENCE_SEARCH_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "tests/search/whole_search.h"

namespace dragoman::reference {

// The processed log-probabilities [vocabulary] after the tokens generated so far.
using NextLogProbs = std::function<std::vector<float>(const std::vector<int32_t>& tokens)>;

struct Found {
  std::vector<int32_t> tokens;  // generated, including eos
  float score = 0.0f;
};

// The finished hypotheses, best first, without placeholders.  Uses only beam_size, max_length,
// length_penalty, early_stopping and eos_id of the options.
std::vector<Found> BeamSearch(const WholeSearch& options, const NextLogProbs& next_log_probs);

// Greedy search: the best token at every step, until eos or max_length.
Found GreedySearch(const WholeSearch& options, const NextLogProbs& next_log_probs);

}  // namespace dragoman::reference

#endif  // DRAGOMAN_TESTS_REFERENCE_SEARCH_H_
