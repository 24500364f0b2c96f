#include "engine/request/search_request.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <variant>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

// What the model says.  Its lengths depend on the sentence and are left to SetLengths.
DecodingOptions SaidBy(const GenerationConfig& generation, const Limits& limits) {
  DecodingOptions said = generation.options;
  said.beam_size = std::clamp(said.beam_size.value_or(1), 1, limits.max_beam_size);
  said.min_length = said.max_length = std::nullopt;
  return said;
}

double CapOf(const Option& option, const Limits& limits, const ModelSpec& model) {
  const double caps[] = {
      std::numeric_limits<double>::infinity(), static_cast<double>(limits.max_beam_size),
      static_cast<double>(limits.max_hypotheses), static_cast<double>(model.max_positions),
      static_cast<double>(model.target_vocabulary - 1)};  // by OptionCap
  return caps[static_cast<size_t>(option.cap)];
}

// INVALID_ARGUMENT unless the value is in the option's range; NaN is in no range.
template <typename T>
absl::Status CheckRange(const Option& option, T value, double cap) {
  if constexpr (std::is_same_v<T, int> || std::is_same_v<T, float>) {
    const double high = std::min(option.high, cap);
    if (value >= static_cast<T>(option.low) && static_cast<double>(value) <= high) {
      return absl::OkStatus();
    }
    return InvalidField(absl::StrCat("options.", option.name), "is ", value, ", want ", option.low,
                        " to ", high);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTexts(const std::vector<std::string>& texts, const Limits& limits) {
  if (texts.empty()) return InvalidField("contents", "is empty, want at least one text");
  if (static_cast<int>(texts.size()) > limits.max_texts) {
    return InvalidField("contents", "has ", texts.size(), " texts, the most is ", limits.max_texts);
  }
  int64_t bytes = 0, characters = 0;
  for (const std::string& text : texts) bytes += static_cast<int64_t>(text.size());
  for (size_t t = 0; t < texts.size(); ++t) {
    if (!IsValidUtf8(texts[t]))
      return InvalidField(absl::StrCat("contents[", t, "]"), "is not valid UTF-8");
    if (bytes <= limits.max_characters) continue;  // so there are no more characters
    characters += CountCodePoints(texts[t]);
    if (characters > limits.max_characters) {
      absl::Status too_long =
          InvalidField(absl::StrCat("contents[", t, "]"), "the request has more than ",
                       limits.max_characters, " characters");
      too_long.SetPayload(kTooLongPayload, absl::Cord("1"));
      return too_long;
    }
  }
  return absl::OkStatus();
}

std::shared_ptr<const SearchRules> MakeRules(const GenerationConfig& generation,
                                             const ModelSpec& model, int32_t unknown_id) {
  auto rules = std::make_shared<SearchRules>();
  rules->eos_id = model.eos_id;
  rules->decoder_start_id = model.decoder_start_id;
  rules->unknown_id = unknown_id;
  rules->bad_words_ids = generation.bad_words_ids;
  KeepOnce(rules.get());
  return rules;
}

void KeepOnce(SearchRules* rules) {
  const auto keep = [](auto* values) {
    std::sort(values->begin(), values->end());
    values->erase(std::unique(values->begin(), values->end()), values->end());
  };
  keep(&rules->bad_words_ids);
  keep(&rules->banned_phrases);
}

absl::StatusOr<SearchOptions> ResolveSearch(const DecodingOptions& options, const Limits& limits,
                                            const GenerationConfig& generation,
                                            const ModelSpec& model) {
  const DecodingOptions models = SaidBy(generation, limits);
  SearchOptions search;
  for (const Option& option : kOptionTable) {
    const auto resolve = [&](const auto& members) -> absl::Status {
      auto& used = search.*members.used;
      const auto& models_own = models.*members.said;
      if (const auto& said = options.*members.said; said.has_value()) {
        RETURN_IF_ERROR(CheckRange(option, *said, CapOf(option, limits, model)));
        used = *said;
      } else if (option.model_may_say && models_own.has_value()) {
        RETURN_IF_ERROR(CheckRange(option, *models_own, CapOf(option, limits, model)));
        used = *models_own;
      }
      return absl::OkStatus();
    };
    RETURN_IF_ERROR(std::visit(resolve, option.members));
  }
  if (search.sampling) {
    if (options.beam_size.value_or(1) > 1) {
      return InvalidField("options.beam_size", "is ", *options.beam_size, ", want 1 with sampling");
    }
    search.beam_size = std::max(search.num_hypotheses, search.mbr_candidates);
  }
  RETURN_IF_ERROR(CheckSearch(search));
  return search;
}

absl::Status CheckSearch(const SearchOptions& search) {
  if (search.num_hypotheses > search.beam_size && !search.return_alternatives) {
    return InvalidField("options.num_hypotheses", "is ", search.num_hypotheses,
                        ", want at most the beam_size ", search.beam_size);
  }
  if (search.mbr_candidates > search.beam_size) {
    return InvalidField("options.mbr_candidates", "is ", search.mbr_candidates,
                        ", want at most the beam_size ", search.beam_size);
  }
  if (search.mbr_candidates > 0 && search.num_hypotheses > search.mbr_candidates) {
    return InvalidField("options.num_hypotheses", "is ", search.num_hypotheses,
                        ", want at most mbr_candidates ", search.mbr_candidates);
  }
  if (search.beam_size % search.beam_groups != 0) {
    return InvalidField("options.beam_groups", "is ", search.beam_groups,
                        ", want a divisor of the beam_size ", search.beam_size);
  }
  const int kinds = (search.sampling ? 1 : 0) + (search.return_alternatives ? 1 : 0) +
                    (search.beam_groups > 1 ? 1 : 0);
  if (kinds > 1) {
    return InvalidField(
        "options", "sampling, return_alternatives and beam_groups are three searches, want one");
  }
  return absl::OkStatus();
}

absl::Status SetLengths(const DecodingOptions& options, int source_tokens,
                        const GenerationConfig& generation, const ModelSpec& model,
                        SearchOptions* search) {
  const int least = static_cast<int>(search->min_length_ratio * static_cast<float>(source_tokens));
  const bool asked_for_minimum = options.min_length.has_value() || least > 0;
  search->min_length =
      std::max(least, options.min_length.value_or(generation.options.min_length.value_or(0)));
  if (options.max_length.has_value()) {
    search->max_length = *options.max_length;
  } else {
    const int proportional =
        static_cast<int>(std::ceil(search->max_length_ratio * static_cast<float>(source_tokens))) +
        generation.length_margin.value_or(kLengthMargin);
    const int models = generation.options.max_length.value_or(model.max_positions);
    search->max_length = std::min({std::max(proportional, 1), models, model.max_positions});
    search->max_length = std::max(search->max_length, search->min_length + 1);
  }
  if (!asked_for_minimum) {
    search->min_length = std::min(search->min_length, search->max_length - 1);
  }
  if (search->min_length >= search->max_length || search->max_length > model.max_positions) {
    return InvalidField("options.min_length", "is ", search->min_length,
                        ", want less than the max_length ",
                        std::min(search->max_length, model.max_positions));
  }
  return absl::OkStatus();
}

}  // namespace dragoman
