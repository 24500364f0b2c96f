// All numeric options of decoding, each defined once: its name in the API, where it is kept, its
// range, and its default.
//
//   DecodingOptions   what a request, or a model's generation_config.json, sets
//   SearchOptions     the resolved options of one sentence; its initializers are the defaults
//   kOptionTable      one entry per option; resolution, checks, the conversion of the API, the
//                     command's flags and docs/options.md are loops over it
//
// A new option is a field in translation.proto, a member in both structs, an entry in the table,
// and its use.  The command line client shares this library, so it depends on nothing else of the
// engine.

#ifndef DRAGOMAN_ENGINE_OPTIONS_OPTIONS_H_
#define DRAGOMAN_ENGINE_OPTIONS_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <variant>

namespace dragoman {

// When a beam search stops (Hugging Face's early_stopping false, true, "never").
enum class EarlyStopping {
  kHeuristic,  // when the best open hypothesis, at its present length, cannot beat a finished one
  kFull,       // as soon as beam_size hypotheses are finished
  kNever,      // when no open hypothesis can beat a finished one at any length
};

// The divisor of the sum of log-probabilities; the length penalty is its exponent.
enum class LengthNormalization {
  kLength,  // the length
  kGnmt,    // (5 + length) / 6: Wu et al. 2016
};

// Lengths count generated tokens, never the decoder start. max_length counts eos, min_length does
// not.  (Hugging Face's max_length 48 is our 47, its max_new_tokens 5 is our 5, its min_length 10
// is our 9.)
//
// REQUIRES (the translator checks it): 1 <= num_hypotheses <= beam_size, 1 <= max_length, 0 <=
// min_length < max_length, and the ranges of the table.
struct SearchOptions {
  int beam_size = 1;  // 1 is greedy search
  int num_hypotheses = 1;
  float length_penalty = 1.0f;
  float word_penalty = 0.0f;
  LengthNormalization length_normalization = LengthNormalization::kLength;
  EarlyStopping early_stopping = EarlyStopping::kHeuristic;
  float patience = 1.0f;
  float coverage_penalty = 0.0f;
  bool shrinking_beam = false;
  int min_length = 0;
  float min_length_ratio = 0.0f;
  int max_length = 1;
  float max_length_ratio = 2.0f;
  int no_repeat_ngram_size = 0;  // 0: off
  float repetition_penalty = 1.0f;
  bool renormalize_logits = false;
  bool disable_unk = false;
  bool replace_unknowns = false;
  bool repetition_guard = true;
  std::optional<int> start_id;       // instead of the model's decoder start
  std::optional<int> forced_bos_id;  // the first token
  std::optional<int> forced_eos_id;  // the last one, if the search reaches max_length
  int beam_groups = 1;
  float diversity_penalty = 0.5f;
  bool return_alternatives = false;
  float min_alternative_probability = 0.0f;
  int mbr_candidates = 0;
  bool sampling = false;
  float sampling_temperature = 1.0f;
  int sampling_top_k = 0;
  float sampling_top_p = 1.0f;
  float sampling_min_p = 0.0f;
  float sampling_typical_p = 1.0f;
  float sampling_epsilon = 0.0f;
  uint64_t sampling_seed = 0;
};

// The options of SearchOptions, each of which may be unset.
struct DecodingOptions {
  std::optional<int> beam_size;
  std::optional<int> num_hypotheses;
  std::optional<float> length_penalty;
  std::optional<float> word_penalty;
  std::optional<LengthNormalization> length_normalization;
  std::optional<EarlyStopping> early_stopping;
  std::optional<float> patience;
  std::optional<float> coverage_penalty;
  std::optional<bool> shrinking_beam;
  std::optional<int> min_length;
  std::optional<float> min_length_ratio;
  std::optional<int> max_length;
  std::optional<float> max_length_ratio;
  std::optional<int> no_repeat_ngram_size;
  std::optional<float> repetition_penalty;
  std::optional<bool> renormalize_logits;
  std::optional<bool> disable_unk;
  std::optional<bool> replace_unknowns;
  std::optional<bool> repetition_guard;
  std::optional<int> forced_bos_id;
  std::optional<int> forced_eos_id;
  std::optional<int> beam_groups;
  std::optional<float> diversity_penalty;
  std::optional<bool> return_alternatives;
  std::optional<float> min_alternative_probability;
  std::optional<int> mbr_candidates;
  std::optional<bool> sampling;
  std::optional<float> sampling_temperature;
  std::optional<int> sampling_top_k;
  std::optional<float> sampling_top_p;
  std::optional<float> sampling_min_p;
  std::optional<float> sampling_typical_p;
  std::optional<float> sampling_epsilon;
  std::optional<uint64_t> sampling_seed;
};

// Where the two structs keep an option.
template <typename T>
struct OptionMembers {
  std::optional<T> DecodingOptions::*said;
  T SearchOptions::*used;
};
// Where they keep a token, which SearchOptions may lack, too.
struct TokenMembers {
  std::optional<int> DecodingOptions::*said;
  std::optional<int> SearchOptions::*used;
};

// What bounds an option besides the range of its entry.
enum class OptionCap {
  kNone,
  kBeamSize,    // the server's max_beam_size
  kHypotheses,  // the server's max_hypotheses
  kPositions,   // the longest sentence that the model can take
  kVocabulary,  // the model's last token
};

struct Option {
  // The path of the field in DecodingOptions of translation.proto.  A bool may also be a message,
  // whose presence means true.
  const char* name;
  std::variant<OptionMembers<bool>, OptionMembers<int>, OptionMembers<float>,
               OptionMembers<uint64_t>, OptionMembers<EarlyStopping>,
               OptionMembers<LengthNormalization>, TokenMembers>
      members;
  // The range of a number.
  double low = 0;
  double high = 0;
  OptionCap cap = OptionCap::kNone;
  bool model_may_say = false;       // generation_config.json overrides the default
  const char* otherwise = nullptr;  // the default in words, where it is no constant
  const char* help = "";
};

// The least value of what must be above 0: its reciprocal times any logit is still finite.
inline constexpr double kAboveZero = 1e-6;

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
    {.name = "word_penalty",
     .members = OptionMembers<float>{&DecodingOptions::word_penalty, &SearchOptions::word_penalty},
     .low = -100,
     .high = 100,
     .model_may_say = true,
     .help = "subtracted from the sum of log-probabilities for each token, including the end"},
    {.name = "length_normalization",
     .members = OptionMembers<LengthNormalization>{&DecodingOptions::length_normalization,
                                                   &SearchOptions::length_normalization},
     .help = "what is raised to the length_penalty: the length, or gnmt's (5 + length) / 6"},
    {.name = "patience",
     .members = OptionMembers<float>{&DecodingOptions::patience, &SearchOptions::patience},
     .low = kAboveZero,
     .high = 10,
     .help = "the search ends when patience x beam_size hypotheses are finished"},
    {.name = "coverage_penalty",
     .members =
         OptionMembers<float>{&DecodingOptions::coverage_penalty, &SearchOptions::coverage_penalty},
     .low = 0,
     .high = 100,
     .help = "how strongly source tokens without attention are penalized; 0: not at all"},
    {.name = "early_stopping",
     .members = OptionMembers<EarlyStopping>{&DecodingOptions::early_stopping,
                                             &SearchOptions::early_stopping},
     .model_may_say = true,
     .help = "when the search stops: heuristic, full or never"},
    {.name = "shrinking_beam",
     .members =
         OptionMembers<bool>{&DecodingOptions::shrinking_beam, &SearchOptions::shrinking_beam},
     .model_may_say = true,
     .help = "a finished hypothesis keeps its place in the beam; the search ends when all are "
             "finished"},
    {.name = "min_length",
     .members = OptionMembers<int>{&DecodingOptions::min_length, &SearchOptions::min_length},
     .low = 0,
     .high = 1 << 20,
     .cap = OptionCap::kPositions,
     .model_may_say = true,
     .help = "generated tokens, without the end of the sentence; below max_length"},
    {.name = "min_length_ratio",
     .members =
         OptionMembers<float>{&DecodingOptions::min_length_ratio, &SearchOptions::min_length_ratio},
     .low = 0,
     .high = 100,
     .help = "minimum length in proportion to the source"},
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
     .low = kAboveZero,
     .high = 100,
     .model_may_say = true,
     .help = "maximum length in proportion to the source"},
    {.name = "no_repeat_ngram_size",
     .members = OptionMembers<int>{&DecodingOptions::no_repeat_ngram_size,
                                   &SearchOptions::no_repeat_ngram_size},
     .low = 0,
     .high = 1 << 20,
     .cap = OptionCap::kPositions,
     .model_may_say = true,
     .help = "no run of this many tokens occurs twice; 0: off"},
    {.name = "repetition_penalty",
     .members = OptionMembers<float>{&DecodingOptions::repetition_penalty,
                                     &SearchOptions::repetition_penalty},
     .low = kAboveZero,
     .high = 100,
     .model_may_say = true,
     .help = "above 1: makes repeated tokens less likely"},
    {.name = "renormalize_logits",
     .members = OptionMembers<bool>{&DecodingOptions::renormalize_logits,
                                    &SearchOptions::renormalize_logits},
     .model_may_say = true,
     .help = "renormalize the probabilities after all processors have been applied"},
    {.name = "disable_unk",
     .members = OptionMembers<bool>{&DecodingOptions::disable_unk, &SearchOptions::disable_unk},
     .model_may_say = true,
     .help = "never generate the unknown token"},
    {.name = "replace_unknowns",
     .members =
         OptionMembers<bool>{&DecodingOptions::replace_unknowns, &SearchOptions::replace_unknowns},
     .model_may_say = true,
     .help = "write the aligned part of the source in place of an unknown token"},
    {.name = "repetition_guard",
     .members =
         OptionMembers<bool>{&DecodingOptions::repetition_guard, &SearchOptions::repetition_guard},
     .model_may_say = true,
     .help = "end a translation that begins to repeat itself, and cut off the repetition"},
    {.name = "forced_bos_token_id",
     .members = TokenMembers{&DecodingOptions::forced_bos_id, &SearchOptions::forced_bos_id},
     .high = 1 << 24,
     .cap = OptionCap::kVocabulary,
     .model_may_say = true,
     .otherwise = "none",
     .help = "the first token"},
    {.name = "forced_eos_token_id",
     .members = TokenMembers{&DecodingOptions::forced_eos_id, &SearchOptions::forced_eos_id},
     .high = 1 << 24,
     .cap = OptionCap::kVocabulary,
     .model_may_say = true,
     .otherwise = "none",
     .help = "the last token, if max_length is reached"},
    {.name = "beam_groups",
     .members = OptionMembers<int>{&DecodingOptions::beam_groups, &SearchOptions::beam_groups},
     .low = 1,
     .high = 256,
     .cap = OptionCap::kBeamSize,
     .help = "groups of the beam that avoid each other's tokens; a divisor of beam_size"},
    {.name = "diversity_penalty",
     .members = OptionMembers<float>{&DecodingOptions::diversity_penalty,
                                     &SearchOptions::diversity_penalty},
     .low = 0,
     .high = 100,
     .help = "cost of a token for each hypothesis of earlier groups that has it at that position"},
    {.name = "return_alternatives",
     .members = OptionMembers<bool>{&DecodingOptions::return_alternatives,
                                    &SearchOptions::return_alternatives},
     .help = "one hypothesis for each of the num_hypotheses best tokens after the prefix"},
    {.name = "min_alternative_probability",
     .members = OptionMembers<float>{&DecodingOptions::min_alternative_probability,
                                     &SearchOptions::min_alternative_probability},
     .low = 0,
     .high = 1,
     .help = "least probability of the first token of an alternative, except the best one"},
    {.name = "mbr_candidates",
     .members =
         OptionMembers<int>{&DecodingOptions::mbr_candidates, &SearchOptions::mbr_candidates},
     .low = 0,
     .high = 256,
     .cap = OptionCap::kHypotheses,
     .help =
         "minimum Bayes risk: choose among this many hypotheses or samples by similarity; 0: off"},
    {.name = "sampling",
     .members = OptionMembers<bool>{&DecodingOptions::sampling, &SearchOptions::sampling},
     .help = "draw tokens at random instead of searching"},
    {.name = "sampling.temperature",
     .members = OptionMembers<float>{&DecodingOptions::sampling_temperature,
                                     &SearchOptions::sampling_temperature},
     .low = kAboveZero,
     .high = 100,
     .help = "below 1: likely tokens become likelier"},
    {.name = "sampling.top_k",
     .members =
         OptionMembers<int>{&DecodingOptions::sampling_top_k, &SearchOptions::sampling_top_k},
     .low = 0,
     .high = 1 << 24,
     .help = "only the k likeliest tokens; 0: all"},
    {.name = "sampling.top_p",
     .members =
         OptionMembers<float>{&DecodingOptions::sampling_top_p, &SearchOptions::sampling_top_p},
     .low = kAboveZero,
     .high = 1,
     .help = "only the fewest tokens with this total probability"},
    {.name = "sampling.min_p",
     .members =
         OptionMembers<float>{&DecodingOptions::sampling_min_p, &SearchOptions::sampling_min_p},
     .low = 0,
     .high = 1,
     .help = "only tokens with at least this share of the likeliest one's probability"},
    {.name = "sampling.typical_p",
     .members = OptionMembers<float>{&DecodingOptions::sampling_typical_p,
                                     &SearchOptions::sampling_typical_p},
     .low = kAboveZero,
     .high = 1,
     .help = "only the fewest tokens of the most typical surprise with this total probability"},
    {.name = "sampling.epsilon_cutoff",
     .members =
         OptionMembers<float>{&DecodingOptions::sampling_epsilon, &SearchOptions::sampling_epsilon},
     .low = 0,
     .high = 1,
     .help = "only tokens with at least this probability"},
    {.name = "sampling.seed",
     .members =
         OptionMembers<uint64_t>{&DecodingOptions::sampling_seed, &SearchOptions::sampling_seed},
     .help = "the same seed draws the same tokens, whatever the traffic"},
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_OPTIONS_OPTIONS_H_
