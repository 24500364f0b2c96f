// From what a request says of the search, and what the model says where the request is silent, to
// the options of one sentence's search.

#ifndef DRAGOMAN_ENGINE_SEARCH_REQUEST_H_
#define DRAGOMAN_ENGINE_SEARCH_REQUEST_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/decode/search_options.h"
#include "engine/model/config.h"

namespace dragoman {

// What one request may ask for at the most.
struct Limits {
  int max_texts = 128;
  int max_characters = 30000;   // Unicode code points of all texts together
  int max_source_tokens = 512;  // of a sentence, eos included; or the model's own limit, if lower
  int max_beam_size = 16;
  int max_hypotheses = 8;
};

// What a request says of the search; what is not set is taken from the model's generation config.
struct DecodingOptions {
  std::optional<int> beam_size;         // 1 .. Limits::max_beam_size
  std::optional<int> num_hypotheses;    // 1 .. beam_size and Limits::max_hypotheses
  std::optional<float> length_penalty;  // -10 .. 10
  std::optional<EarlyStopping> early_stopping;
  std::optional<int> min_length;  // generated tokens without eos; 0 .. max_length - 1
  // Generated tokens with eos, 1 .. the model's positions.  Not set: max_length_ratio x source
  // tokens
  // + kLengthMargin, or the model's max_length if that is lower.  A hypothesis that reaches it says
  // so by FinishReason::kMaxLength.
  std::optional<int> max_length;
  std::optional<float> max_length_ratio;    // above 0, to 100; default kLengthRatio
  std::optional<int> no_repeat_ngram_size;  // 0 .. the model's positions
  std::optional<float> repetition_penalty;  // above 0, to 100

  static constexpr float kLengthRatio = 2.0f;
  static constexpr int kLengthMargin = 32;
};

// All but the lengths, which depend on the sentence.  INVALID_ARGUMENT with the field (status.h) of
// a value that is out of range.
absl::StatusOr<SearchOptions> ResolveSearch(const DecodingOptions& options, const Limits& limits,
                                            const GenerationConfig& generation,
                                            const ModelSpec& model);

// Sets the lengths for a sentence of so many source tokens.  INVALID_ARGUMENT likewise.
absl::Status SetLengths(const DecodingOptions& options, int source_tokens,
                        const GenerationConfig& generation, const ModelSpec& model,
                        SearchOptions* search);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_SEARCH_REQUEST_H_
