// The rules of a request about words: a glossary, and words that must not appear.

#ifndef DRAGOMAN_ENGINE_GLOSSARY_H_
#define DRAGOMAN_ENGINE_GLOSSARY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/search/search_options.h"
#include "engine/text/piece_index.h"
#include "engine/text/tokenizer.h"

namespace dragoman {

// Where a sentence contains `source`, its translation contains `target`.
struct GlossaryEntry {
  std::string source;
  std::string target;                                       // empty: the same as the source
  std::optional<std::vector<size_t>> texts = std::nullopt;  // the request's texts that it is for
};

// Whether the text contains the phrase as whole words.  REQUIRES: both are valid UTF-8.
bool HasPhrase(std::string_view text, std::string_view phrase);

// Whether the tokenizer's target vocabulary can spell the phrase.
bool CanSay(const Tokenizer& tokenizer, const std::string& phrase);

// The tokens of a phrase that translations can be made to contain; none if the vocabulary cannot
// spell it, or `rules` forbid it.
std::vector<int32_t> PhraseOf(const Tokenizer& tokenizer, const std::string& phrase,
                              const SearchRules& rules);

// The restrictions of a request that concern words and tokens rather than numbers.
struct WordRules {
  std::vector<GlossaryEntry> glossary;
  std::vector<std::string> never_say;
  std::vector<std::string> suppress_sequences;
  std::vector<int32_t> suppress_token_ids;

  bool restricts() const {
    return !never_say.empty() || !suppress_sequences.empty() || !suppress_token_ids.empty();
  }
};

// A glossary in the tokens of a model.
class Glossary {
 public:
  // INVALID_ARGUMENT naming the entry that is empty, that the vocabulary cannot spell, that has
  // more than `max_tokens` tokens, or that contains what `rules` forbid.
  static absl::StatusOr<Glossary> Create(const std::vector<GlossaryEntry>& entries,
                                         const Tokenizer& tokenizer, int max_tokens,
                                         const SearchRules& rules);

  // The phrases that the translation of a sentence of that text must contain, in the order of the
  // entries, each as often as its source appears there as whole words.  Of overlapping entries the
  // longest counts.
  std::vector<std::vector<int32_t>> PhrasesFor(std::string_view sentence, size_t text = 0) const;

 private:
  struct Entry {
    std::string source;
    std::vector<int32_t> phrase;
    std::optional<std::vector<size_t>> texts;
  };
  std::vector<Entry> entries_;  // longest source first
};

// The first of these phrases that repeats a run of `size` tokens, of itself, of those before it or
// of `said`; nothing if none does.
std::optional<size_t> FirstRepetition(absl::Span<const int32_t> said,
                                      absl::Span<const std::vector<int32_t>> phrases, size_t size);

// Adds a request's rules to those of the model.  INVALID_ARGUMENT naming the entry that is empty or
// not a token.
absl::StatusOr<std::shared_ptr<const SearchRules>> AddWordRules(
    const std::shared_ptr<const SearchRules>& models, const WordRules& words,
    const Tokenizer& tokenizer, std::shared_ptr<const PieceIndex> pieces);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_GLOSSARY_H_
