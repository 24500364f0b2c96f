// From the search options of a request, and those of the model where the request is silent, to the
// options of one sentence's search.  The options themselves are in options/options.h.

#ifndef DRAGOMAN_ENGINE_REQUEST_SEARCH_REQUEST_H_
#define DRAGOMAN_ENGINE_REQUEST_SEARCH_REQUEST_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/search/search_options.h"
#include "engine/spec/config.h"

namespace dragoman {

// The limits of a single request.
struct Limits {
  int max_texts = 128;
  int max_characters = 131072;  // Unicode code points of all texts together
  int max_source_tokens = 512;  // of a sentence, eos included; or the model's own limit, if lower
  int max_beam_size = 16;
  int max_hypotheses = 8;
};

// Marks the error (a payload) of a request with too many characters: other APIs have a code for it.
inline constexpr char kTooLongPayload[] = "dragoman.too_long";

// INVALID_ARGUMENT with the field (status.h) if there are too many texts, or they are too long or
// not UTF-8.
absl::Status CheckTexts(const std::vector<std::string>& texts, const Limits& limits);

// Tokens that the default maximum length allows in addition to those in proportion to the source.
inline constexpr int kLengthMargin = 32;

// The model's rules for every search.  `unknown_id` is that of the target vocabulary.
std::shared_ptr<const SearchRules> MakeRules(const GenerationConfig& generation,
                                             const ModelSpec& model, int32_t unknown_id = -1);

// Removes bad words and banned phrases that are there again; the order does not matter.
void KeepOnce(SearchRules* rules);

// All options except the lengths, which depend on the sentence.  INVALID_ARGUMENT with the field
// (status.h) for a value that is out of range.
absl::StatusOr<SearchOptions> ResolveSearch(const DecodingOptions& options, const Limits& limits,
                                            const GenerationConfig& generation,
                                            const ModelSpec& model);

// INVALID_ARGUMENT if the options contradict each other.
absl::Status CheckSearch(const SearchOptions& search);

// Sets the lengths for a sentence with this many source tokens.  INVALID_ARGUMENT if they do not
// fit.
absl::Status SetLengths(const DecodingOptions& options, int source_tokens,
                        const GenerationConfig& generation, const ModelSpec& model,
                        SearchOptions* search);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_REQUEST_SEARCH_REQUEST_H_
