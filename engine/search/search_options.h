// The parameters of one sentence's search, besides the numeric options (engine/options/options.h),
// and its results.

#ifndef DRAGOMAN_ENGINE_SEARCH_SEARCH_OPTIONS_H_
#define DRAGOMAN_ENGINE_SEARCH_SEARCH_OPTIONS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/options/options.h"

namespace dragoman {

class PieceIndex;
class WordJoins;

// What is the same for all sentences of a model, or of a request.  Shared, never copied.  Each step
// goes through the bad words and the banned phrases for each row, so they are there once
// (KeepOnce).
struct SearchRules {
  int32_t eos_id = 0;
  int32_t decoder_start_id = 0;
  int32_t unknown_id = -1;                          // of the target vocabulary; negative: none
  std::vector<std::vector<int32_t>> bad_words_ids;  // no entry is empty
  // Phrases that must not appear, however they are cut into pieces (piece_index.h).  If there are
  // any, the index is set, too.
  std::vector<std::string> banned_phrases;
  std::shared_ptr<const PieceIndex> pieces;
  // Where words end, if there are phrases that must appear.
  std::shared_ptr<const WordJoins> word_joins;
};

enum class FinishReason {
  kEos,
  kMaxLength,
  kRepetition,  // it started to repeat itself; the repetition is cut off
};

// A token that could have been next, and its log-probability.
struct RankedToken {
  int32_t token = 0;
  float log_prob = 0.0f;
};

// One translation of one sentence.
struct Hypothesis {
  std::vector<int32_t> tokens;  // without the decoder start and without eos; with the prefix
  std::vector<float>
      token_log_probs;  // of each token (0 in the prefix) and of eos, if there is one
  // How much less likely than the best token each of the last ones was, as a difference of
  // log-probabilities, at most 0; of those that were not in a prefix.  Empty if it was not
  // requested.
  std::vector<float> token_margins;
  float log_prob = 0.0f;  // their sum
  float score = 0.0f;     // what ranks it: by default log_prob / generated tokens incl. eos
  FinishReason finish_reason = FinishReason::kEos;
  int row = -1;  // the network's row before its last token, if attention is kept
  // The attention to the source where each token, and then eos, was chosen: [rows, source tokens],
  // with as many rows as tokens or one more.  Empty if it was not requested.
  std::vector<float> attention;
  // The attention by head: to the source, [rows, heads, source tokens]; to the rows up to each,
  // [rows, heads, rows]; of the source to itself, [heads, source tokens, source tokens], only in a
  // sentence's best hypothesis.  And for each row the most likely tokens, best first.  Each empty
  // if it was not requested.
  std::vector<float> cross_heads, decoder_heads, encoder_heads;
  std::vector<std::vector<RankedToken>> candidates;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_SEARCH_SEARCH_OPTIONS_H_
