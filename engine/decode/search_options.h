// What one sentence's search is told beside its numbers (engine/options/options.h), and what it
// finds.

#ifndef DRAGOMAN_ENGINE_DECODE_SEARCH_OPTIONS_H_
#define DRAGOMAN_ENGINE_DECODE_SEARCH_OPTIONS_H_

#include <cstdint>
#include <vector>

#include "engine/options/options.h"

namespace dragoman {

// What holds for all sentences of a model, or of a request.  Shared by them, never copied.
struct SearchRules {
  int32_t eos_id = 0;
  int32_t decoder_start_id = 0;
  std::vector<std::vector<int32_t>> bad_words_ids;  // no entry is empty
};

enum class FinishReason { kEos, kMaxLength };

// One translation of one sentence.
struct Hypothesis {
  std::vector<int32_t> tokens;         // without the decoder start and without eos
  std::vector<float> token_log_probs;  // of each token and, if it ended in eos, of the eos
  float log_prob = 0.0f;               // their sum
  float score = 0.0f;  // log_prob / (number of generated tokens incl. eos) ^ length_penalty
  FinishReason finish_reason = FinishReason::kEos;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_SEARCH_OPTIONS_H_
