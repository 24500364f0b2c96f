// What a request says about words: a glossary of its own, and what must never be said.

#ifndef DRAGOMAN_ENGINE_GLOSSARY_H_
#define DRAGOMAN_ENGINE_GLOSSARY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/search/search_options.h"
#include "engine/text/tokenizer.h"

namespace dragoman {

// Where a sentence says `source`, its translation says `target`.
struct GlossaryEntry {
  std::string source;
  std::string target;  // empty: as the source has it
};

// Restrictions of a request that are words and tokens, not numbers.
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
  // INVALID_ARGUMENT naming the entry that is empty, or has what the vocabulary cannot write.
  static absl::StatusOr<Glossary> Create(const std::vector<GlossaryEntry>& entries,
                                         const Tokenizer& tokenizer);

  // The phrases that the translation of `sentence` must have, in the order of the entries: each as
  // often as its source appears there as whole words.  Of entries that overlap the longest counts.
  std::vector<std::vector<int32_t>> PhrasesFor(std::string_view sentence) const;

 private:
  struct Entry {
    std::string source;
    std::vector<int32_t> phrase;
  };
  std::vector<Entry> entries_;  // the longest source first
};

// The rules of a request: those of the model and its own.  INVALID_ARGUMENT naming the entry that
// is empty or no token.
absl::StatusOr<std::shared_ptr<const SearchRules>> AddWordRules(
    const std::shared_ptr<const SearchRules>& models, const WordRules& words,
    const Tokenizer& tokenizer, std::shared_ptr<const PieceIndex> pieces);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_GLOSSARY_H_
