// The parameters of one sentence's search beside its numbers (engine/options/options.h), and what
// it finds.

#ifndef DRAGOMAN_ENGINE_SEARCH_SEARCH_OPTIONS_H_
#define DRAGOMAN_ENGINE_SEARCH_SEARCH_OPTIONS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/options/options.h"
#include "engine/text/piece_index.h"

namespace dragoman {

// What holds for all sentences of a model, or of a request.  Shared by them, never copied.
struct SearchRules {
  int32_t eos_id = 0;
  int32_t decoder_start_id = 0;
  int32_t unknown_id = -1;  // of the target vocabulary; negative: there is none
  std::vector<std::vector<int32_t>> bad_words_ids;  // no entry is empty
  // Phrases that are never said, in whatever pieces (piece_index.h); the index is there if any is.
  std::vector<std::string> banned_phrases;
  std::shared_ptr<const PieceIndex> pieces;
};

enum class FinishReason {
  kEos,
  kMaxLength,
  kRepetition,  // it began to repeat itself; the repetition is cut off
};

// One translation of one sentence.
struct Hypothesis {
  std::vector<int32_t> tokens;         // without the decoder start and without eos; with the prefix
  std::vector<float> token_log_probs;  // of each token (0 in the prefix) and, if there is, of eos
  float log_prob = 0.0f;               // their sum
  float score = 0.0f;  // what ranks it: by default log_prob / generated tokens incl. eos
  FinishReason finish_reason = FinishReason::kEos;
  int row = -1;  // the network's row that its last token followed, if attention is kept
  // How the attention was spread over the source where each token, and then eos, was chosen:
  // [rows, source tokens].  As many rows as tokens or one more; none if nobody asked.
  std::vector<float> attention;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_SEARCH_SEARCH_OPTIONS_H_
