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

#include <array>
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

// What bounds an option, and what it is by default.
struct OptionTerms {
  // The range of a number.
  double low = 0;
  double high = 0;
  OptionCap cap = OptionCap::kNone;
  bool model_may_say = false;       // generation_config.json overrides the default
  const char* otherwise = nullptr;  // the default in words, where it is no constant
};

struct Option : OptionTerms {
  // The path of the field in DecodingOptions of translation.proto.  A bool may also be a message,
  // whose presence means true.
  const char* name;
  std::variant<OptionMembers<bool>, OptionMembers<int>, OptionMembers<float>,
               OptionMembers<uint64_t>, OptionMembers<EarlyStopping>,
               OptionMembers<LengthNormalization>, TokenMembers>
      members;
  const char* help;
};

template <typename T>
constexpr Option OptionOf(const char* name, std::optional<T> DecodingOptions::*said,
                          T SearchOptions::*used, const char* help, OptionTerms terms = {}) {
  return {terms, name, OptionMembers<T>{said, used}, help};
}
constexpr Option OptionOf(const char* name, std::optional<int> DecodingOptions::*said,
                          std::optional<int> SearchOptions::*used, const char* help,
                          OptionTerms terms) {
  return {terms, name, TokenMembers{said, used}, help};
}

// The least value of what must be above 0: its reciprocal times any logit is still finite.
inline constexpr double kAboveZero = 1e-6;

inline constexpr auto kOptionTable = [] {
  using D = DecodingOptions;
  using S = SearchOptions;
  using enum OptionCap;
  return std::array{
      OptionOf("beam_size", &D::beam_size, &S::beam_size,
               "hypotheses that the search keeps; 1: greedy",
               {.low = 1, .high = 256, .cap = kBeamSize, .model_may_say = true}),
      OptionOf("num_hypotheses", &D::num_hypotheses, &S::num_hypotheses,
               "translations of each text, best first; at most beam_size",
               {.low = 1, .high = 256, .cap = kHypotheses}),
      OptionOf("length_penalty", &D::length_penalty, &S::length_penalty,
               "score = sum of log-probabilities / length ^ this",
               {.low = -10, .high = 10, .model_may_say = true}),
      OptionOf("word_penalty", &D::word_penalty, &S::word_penalty,
               "subtracted from the sum of log-probabilities for each token, including the end",
               {.low = -100, .high = 100, .model_may_say = true}),
      OptionOf("length_normalization", &D::length_normalization, &S::length_normalization,
               "what is raised to the length_penalty: the length, or gnmt's (5 + length) / 6"),
      OptionOf("patience", &D::patience, &S::patience,
               "the search ends when patience x beam_size hypotheses are finished",
               {.low = kAboveZero, .high = 10}),
      OptionOf("coverage_penalty", &D::coverage_penalty, &S::coverage_penalty,
               "how strongly source tokens without attention are penalized; 0: not at all",
               {.high = 100}),
      OptionOf("early_stopping", &D::early_stopping, &S::early_stopping,
               "when the search stops: heuristic, full or never", {.model_may_say = true}),
      OptionOf("shrinking_beam", &D::shrinking_beam, &S::shrinking_beam,
               "a finished hypothesis keeps its place in the beam; the search ends when all are "
               "finished",
               {.model_may_say = true}),
      OptionOf("min_length", &D::min_length, &S::min_length,
               "generated tokens, without the end of the sentence; below max_length",
               {.high = 1 << 20, .cap = kPositions, .model_may_say = true}),
      OptionOf("min_length_ratio", &D::min_length_ratio, &S::min_length_ratio,
               "minimum length in proportion to the source", {.high = 100}),
      OptionOf("max_length", &D::max_length, &S::max_length,
               "generated tokens, with the end of the sentence",
               {.low = 1,
                .high = 1 << 20,
                .cap = kPositions,
                .model_may_say = true,
                .otherwise = "max_length_ratio x source tokens + 32"}),
      OptionOf("max_length_ratio", &D::max_length_ratio, &S::max_length_ratio,
               "maximum length in proportion to the source",
               {.low = kAboveZero, .high = 100, .model_may_say = true}),
      OptionOf("no_repeat_ngram_size", &D::no_repeat_ngram_size, &S::no_repeat_ngram_size,
               "no run of this many tokens occurs twice; 0: off",
               {.high = 1 << 20, .cap = kPositions, .model_may_say = true}),
      OptionOf("repetition_penalty", &D::repetition_penalty, &S::repetition_penalty,
               "above 1: makes repeated tokens less likely",
               {.low = kAboveZero, .high = 100, .model_may_say = true}),
      OptionOf("renormalize_logits", &D::renormalize_logits, &S::renormalize_logits,
               "renormalize the probabilities after all processors have been applied",
               {.model_may_say = true}),
      OptionOf("disable_unk", &D::disable_unk, &S::disable_unk, "never generate the unknown token",
               {.model_may_say = true}),
      OptionOf("replace_unknowns", &D::replace_unknowns, &S::replace_unknowns,
               "write the aligned part of the source in place of an unknown token",
               {.model_may_say = true}),
      OptionOf("repetition_guard", &D::repetition_guard, &S::repetition_guard,
               "end a translation that begins to repeat itself, and cut off the repetition",
               {.model_may_say = true}),
      OptionOf("forced_bos_token_id", &D::forced_bos_id, &S::forced_bos_id, "the first token",
               {.high = 1 << 24, .cap = kVocabulary, .model_may_say = true, .otherwise = "none"}),
      OptionOf("forced_eos_token_id", &D::forced_eos_id, &S::forced_eos_id,
               "the last token, if max_length is reached",
               {.high = 1 << 24, .cap = kVocabulary, .model_may_say = true, .otherwise = "none"}),
      OptionOf("beam_groups", &D::beam_groups, &S::beam_groups,
               "groups of the beam that avoid each other's tokens; a divisor of beam_size",
               {.low = 1, .high = 256, .cap = kBeamSize}),
      OptionOf("diversity_penalty", &D::diversity_penalty, &S::diversity_penalty,
               "cost of a token for each hypothesis of earlier groups that has it at that position",
               {.high = 100}),
      OptionOf("return_alternatives", &D::return_alternatives, &S::return_alternatives,
               "one hypothesis for each of the num_hypotheses best tokens after the prefix"),
      OptionOf("min_alternative_probability", &D::min_alternative_probability,
               &S::min_alternative_probability,
               "least probability of the first token of an alternative, except the best one",
               {.high = 1}),
      OptionOf(
          "mbr_candidates", &D::mbr_candidates, &S::mbr_candidates,
          "minimum Bayes risk: choose among this many hypotheses or samples by similarity; 0: off",
          {.high = 256, .cap = kHypotheses}),
      OptionOf("sampling", &D::sampling, &S::sampling,
               "draw tokens at random instead of searching"),
      OptionOf("sampling.temperature", &D::sampling_temperature, &S::sampling_temperature,
               "below 1: likely tokens become likelier", {.low = kAboveZero, .high = 100}),
      OptionOf("sampling.top_k", &D::sampling_top_k, &S::sampling_top_k,
               "only the k likeliest tokens; 0: all", {.high = 1 << 24}),
      OptionOf("sampling.top_p", &D::sampling_top_p, &S::sampling_top_p,
               "only the fewest tokens with this total probability",
               {.low = kAboveZero, .high = 1}),
      OptionOf("sampling.min_p", &D::sampling_min_p, &S::sampling_min_p,
               "only tokens with at least this share of the likeliest one's probability",
               {.high = 1}),
      OptionOf("sampling.typical_p", &D::sampling_typical_p, &S::sampling_typical_p,
               "only the fewest tokens of the most typical surprise with this total probability",
               {.low = kAboveZero, .high = 1}),
      OptionOf("sampling.epsilon_cutoff", &D::sampling_epsilon, &S::sampling_epsilon,
               "only tokens with at least this probability", {.high = 1}),
      OptionOf("sampling.seed", &D::sampling_seed, &S::sampling_seed,
               "the same seed draws the same tokens, whatever the traffic")};
}();

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_OPTIONS_OPTIONS_H_
