#include "engine/search_request.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

// INVALID_ARGUMENT unless low <= value <= high; NaN is in no range.
template <typename T>
absl::Status CheckRange(const char* field, T value, T low, T high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return InvalidField(absl::StrCat("options.", field),
                      absl::StrCat("is ", value, ", want ", low, " to ", high));
}

// INVALID_ARGUMENT unless 0 < value <= high.
absl::Status CheckPositive(const char* field, float value, float high) {
  if (value > 0.0f && value <= high) return absl::OkStatus();
  return InvalidField(absl::StrCat("options.", field),
                      absl::StrCat("is ", value, ", want above 0, to ", high));
}

// Hugging Face counts the decoder start into a length; we do not.
int WithoutStart(int length) { return std::max(0, length - 1); }

}  // namespace

absl::StatusOr<SearchOptions> ResolveSearch(const DecodingOptions& options, const Limits& limits,
                                            const GenerationConfig& generation,
                                            const ModelSpec& model) {
  SearchOptions search;
  search.beam_size =
      options.beam_size.value_or(std::clamp(generation.num_beams, 1, limits.max_beam_size));
  RETURN_IF_ERROR(CheckRange("beam_size", search.beam_size, 1, limits.max_beam_size));
  search.num_hypotheses = options.num_hypotheses.value_or(1);
  RETURN_IF_ERROR(CheckRange("num_hypotheses", search.num_hypotheses, 1, limits.max_hypotheses));
  if (search.num_hypotheses > search.beam_size) {
    return InvalidField("options.num_hypotheses",
                        absl::StrCat("is ", search.num_hypotheses, ", want at most the beam_size ",
                                     search.beam_size));
  }
  search.length_penalty = options.length_penalty.value_or(generation.length_penalty);
  RETURN_IF_ERROR(CheckRange("length_penalty", search.length_penalty, -10.0f, 10.0f));
  search.early_stopping = options.early_stopping.value_or(generation.early_stopping);
  search.no_repeat_ngram_size =
      options.no_repeat_ngram_size.value_or(generation.no_repeat_ngram_size);
  RETURN_IF_ERROR(
      CheckRange("no_repeat_ngram_size", search.no_repeat_ngram_size, 0, model.max_positions));
  search.repetition_penalty = options.repetition_penalty.value_or(generation.repetition_penalty);
  RETURN_IF_ERROR(CheckPositive("repetition_penalty", search.repetition_penalty, 100.0f));
  search.renormalize_logits = generation.renormalize_logits;
  search.forced_bos_id = generation.forced_bos_id;
  search.forced_eos_id = generation.forced_eos_id;
  search.bad_words_ids = generation.bad_words_ids;
  search.eos_id = model.eos_id;
  search.decoder_start_id = model.decoder_start_id;
  return search;
}

absl::Status SetLengths(const DecodingOptions& options, int source_tokens,
                        const GenerationConfig& generation, const ModelSpec& model,
                        SearchOptions* search) {
  const float ratio = options.max_length_ratio.value_or(DecodingOptions::kLengthRatio);
  RETURN_IF_ERROR(CheckPositive("max_length_ratio", ratio, 100.0f));
  search->min_length = options.min_length.value_or(WithoutStart(generation.min_length));
  RETURN_IF_ERROR(CheckRange("min_length", search->min_length, 0, model.max_positions - 1));
  if (options.max_length.has_value()) {
    search->max_length = *options.max_length;
    RETURN_IF_ERROR(CheckRange("max_length", search->max_length, 1, model.max_positions));
  } else {
    const int proportional =
        static_cast<int>(std::ceil(ratio * static_cast<float>(source_tokens))) +
        DecodingOptions::kLengthMargin;
    const int models =
        generation.max_length > 1 ? WithoutStart(generation.max_length) : model.max_positions;
    search->max_length = std::min({proportional, models, model.max_positions});
    search->max_length = std::max(search->max_length, search->min_length + 1);
  }
  if (!options.min_length.has_value()) {
    search->min_length = std::min(search->min_length, search->max_length - 1);
  }
  if (search->min_length >= search->max_length) {
    return InvalidField("options.min_length",
                        absl::StrCat("is ", search->min_length, ", want less than the max_length ",
                                     search->max_length));
  }
  return absl::OkStatus();
}

}  // namespace dragoman
