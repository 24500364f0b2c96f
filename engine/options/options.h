// Every number that a request can say about decoding, said once: what it is called in the API,
// where it is kept, what it may be, and what holds if nobody says anything.
//
//   DecodingOptions   what was said, by a request or by a model's generation_config.json
//   SearchOptions     what holds for one sentence; its initializers are the defaults
//   kOptionTable      an entry for each: resolution, checks, the API's conversion, the command's
//                     flags and docs/options.md are loops over it
//
// A new option is a field in translation.proto, a member in both structs, an entry in the table,
// and its use.  The command line client shares this box, so it knows nothing of the engine.

#ifndef DRAGOMAN_ENGINE_OPTIONS_OPTIONS_H_
#define DRAGOMAN_ENGINE_OPTIONS_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <variant>

namespace dragoman {

// When a beam search stops (Hugging Face's early_stopping false, true, "never").
enum class EarlyStopping {
  kHeuristic,  // when the best open hypothesis, as long as it is, cannot enter the finished ones
  kFull,       // as soon as beam_size hypotheses are finished
  kNever,      // when no open hypothesis can enter the finished ones at any length
};

// Lengths count generated tokens, never the decoder start.  max_length counts eos, min_length does
// not.  (Hugging Face's max_length 48 is our 47, its max_new_tokens 5 is our 5, its min_length 10
// is our 9.)
//
// REQUIRES (the translator sees to it): 1 <= num_hypotheses <= beam_size, 1 <= max_length,
// 0 <= min_length < max_length, and what the table says.
struct SearchOptions {
  int beam_size = 1;  // 1 is greedy search
  int num_hypotheses = 1;
  float length_penalty = 1.0f;  // score = sum of log-probabilities / length ^ length_penalty
  EarlyStopping early_stopping = EarlyStopping::kHeuristic;
  int min_length = 0;
  int max_length = 1;
  float max_length_ratio = 2.0f;
  int no_repeat_ngram_size = 0;  // 0: off
  float repetition_penalty = 1.0f;
  bool renormalize_logits = false;
  std::optional<int32_t> start_id;       // in place of the model's decoder start
  std::optional<int32_t> forced_bos_id;  // the first token
  std::optional<int32_t> forced_eos_id;  // the last one, if the search reaches max_length
};

// The same where it is not known yet who says what.
struct DecodingOptions {
  std::optional<int> beam_size;
  std::optional<int> num_hypotheses;
  std::optional<float> length_penalty;
  std::optional<EarlyStopping> early_stopping;
  std::optional<int> min_length;
  std::optional<int> max_length;
  std::optional<float> max_length_ratio;
  std::optional<int> no_repeat_ngram_size;
  std::optional<float> repetition_penalty;
  std::optional<bool> renormalize_logits;
};

// Where an option is kept in the two structs.
template <typename T>
struct OptionMembers {
  std::optional<T> DecodingOptions::*said;
  T SearchOptions::*used;
};

// What bounds an option besides the numbers of its entry.
enum class OptionCap {
  kNone,
  kBeamSize,    // the server's max_beam_size
  kHypotheses,  // the server's max_hypotheses
  kPositions,   // the longest sentence that the model can take
};

struct Option {
  const char* name;  // of the field of DecodingOptions in translation.proto
  std::variant<OptionMembers<bool>, OptionMembers<int>, OptionMembers<float>,
               OptionMembers<EarlyStopping>>
      members;
  // The range of a number; `open` excludes `low`.
  double low = 0;
  double high = 0;
  bool open = false;
  OptionCap cap = OptionCap::kNone;
  bool model_may_say = false;       // generation_config.json overrides the default
  const char* otherwise = nullptr;  // the default in words, where it is no constant
  const char* help = "";
};

inline constexpr Option kOptionTable[] = {
    {.name = "beam_size",
     .members = OptionMembers<int>{&DecodingOptions::beam_size, &SearchOptions::beam_size},
     .low = 1,
     .high = 256,
     .cap = OptionCap::kBeamSize,
     .model_may_say = true,
     .help = "hypotheses that the search keeps; 1: greedy"},
    {.name = "num_hypotheses",
     .members =
         OptionMembers<int>{&DecodingOptions::num_hypotheses, &SearchOptions::num_hypotheses},
     .low = 1,
     .high = 256,
     .cap = OptionCap::kHypotheses,
     .help = "translations of each text, best first; at most beam_size"},
    {.name = "length_penalty",
     .members =
         OptionMembers<float>{&DecodingOptions::length_penalty, &SearchOptions::length_penalty},
     .low = -10,
     .high = 10,
     .model_may_say = true,
     .help = "score = sum of log-probabilities / length ^ this"},
    {.name = "early_stopping",
     .members = OptionMembers<EarlyStopping>{&DecodingOptions::early_stopping,
                                             &SearchOptions::early_stopping},
     .model_may_say = true,
     .help = "when the search stops: heuristic, full or never"},
    {.name = "min_length",
     .members = OptionMembers<int>{&DecodingOptions::min_length, &SearchOptions::min_length},
     .low = 0,
     .high = 1 << 20,
     .cap = OptionCap::kPositions,
     .model_may_say = true,
     .help = "generated tokens, without the end of the sentence; below max_length"},
    {.name = "max_length",
     .members = OptionMembers<int>{&DecodingOptions::max_length, &SearchOptions::max_length},
     .low = 1,
     .high = 1 << 20,
     .cap = OptionCap::kPositions,
     .model_may_say = true,
     .otherwise = "max_length_ratio x source tokens + 32",
     .help = "generated tokens, with the end of the sentence"},
    {.name = "max_length_ratio",
     .members =
         OptionMembers<float>{&DecodingOptions::max_length_ratio, &SearchOptions::max_length_ratio},
     .low = 0,
     .high = 100,
     .open = true,
     .help = "maximum length in proportion to the source"},
    {.name = "no_repeat_ngram_size",
     .members = OptionMembers<int>{&DecodingOptions::no_repeat_ngram_size,
                                   &SearchOptions::no_repeat_ngram_size},
     .low = 0,
     .high = 1 << 20,
     .cap = OptionCap::kPositions,
     .model_may_say = true,
     .help = "no run of so many tokens stands twice; 0: off"},
    {.name = "repetition_penalty",
     .members = OptionMembers<float>{&DecodingOptions::repetition_penalty,
                                     &SearchOptions::repetition_penalty},
     .low = 0,
     .high = 100,
     .open = true,
     .model_may_say = true,
     .help = "above 1: makes repeated tokens less likely"},
    {.name = "renormalize_logits",
     .members = OptionMembers<bool>{&DecodingOptions::renormalize_logits,
                                    &SearchOptions::renormalize_logits},
     .model_may_say = true,
     .help = "divide the probabilities by what the processors leave of them"},
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_OPTIONS_OPTIONS_H_
