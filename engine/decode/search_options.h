// How one sentence is searched, and what a search finds.
//
// Counting: lengths count generated tokens, never the decoder start.  max_length counts eos,
// min_length does not.  (Hugging Face's max_length 48 is our 47, its max_new_tokens 5 is our 5, its
// min_length 10 is our 9.)

#ifndef DRAGOMAN_ENGINE_DECODE_SEARCH_OPTIONS_H_
#define DRAGOMAN_ENGINE_DECODE_SEARCH_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/model/config.h"

namespace dragoman {

// REQUIRES (the translator sees to it): 1 <= num_hypotheses <= beam_size, 1 <= max_length,
// 0 <= min_length < max_length, repetition_penalty > 0, no_repeat_ngram_size >= 0.
struct SearchOptions {
  int beam_size = 1;  // 1 is greedy search
  int num_hypotheses = 1;
  int max_length = 1;
  int min_length = 0;
  float length_penalty = 1.0f;  // score = sum of log-probabilities / length ^ length_penalty
  EarlyStopping early_stopping = EarlyStopping::kHeuristic;
  int no_repeat_ngram_size = 0;  // 0: off
  float repetition_penalty = 1.0f;
  bool renormalize_logits = false;
  std::optional<int32_t> forced_bos_id;  // the first token
  std::optional<int32_t> forced_eos_id;  // the last one, if the search reaches max_length
  std::vector<std::vector<int32_t>> bad_words_ids;  // no entry is empty
  int32_t eos_id = 0;
  int32_t decoder_start_id = 0;
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
