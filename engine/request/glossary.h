// The rules of a request about words: glossaries, and words that must not appear.

#ifndef DRAGOMAN_ENGINE_REQUEST_GLOSSARY_H_
#define DRAGOMAN_ENGINE_REQUEST_GLOSSARY_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "engine/base/not_copyable.h"
#include "engine/request/still_wanted.h"
#include "engine/request/terms.h"
#include "engine/search/search.h"
#include "engine/text/piece_index.h"
#include "engine/text/tokenizer.h"

namespace dragoman {

// Whether the tokenizer's target vocabulary can spell the phrase.
bool CanSay(const Tokenizer& tokenizer, const std::string& phrase);

// The tokens of a phrase that translations can be made to contain; none if the vocabulary cannot
// spell it, or `rules` forbid it.
std::vector<int32_t> TokensOf(const Tokenizer& tokenizer, const std::string& phrase,
                              const SearchRules& rules);

// Those of the tokens, whose bytes are given, that are, or have a part of, these bytes.
TokenRange PlaceOf(TextSpan span, absl::Span<const TextSpan> tokens);

// The glossary of several requests whose options are the same.  The first of them prepares it, and
// the others wait for that.  Thread-safe.
class SharedGlossary : private NotCopyable {
 public:
  explicit SharedGlossary(std::vector<GlossaryEntry> entries) : entries_(std::move(entries)) {}

  const std::vector<GlossaryEntry>& entries() const { return entries_; }
  bool is_prepared() const { return prepared_; }

  // Those that `prepare` has made for this model.
  absl::StatusOr<std::shared_ptr<const TermList>> TermsFor(
      const std::shared_ptr<const void>& model,
      absl::FunctionRef<absl::StatusOr<std::shared_ptr<const TermList>>()> prepare);

 private:
  const std::vector<GlossaryEntry> entries_;
  std::atomic<bool> prepared_ = false;
  absl::Mutex mutex_;
  std::weak_ptr<const void> model_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const TermList> terms_ ABSL_GUARDED_BY(mutex_);  // for it
};

// The restrictions of a request that concern words and tokens rather than numbers.
struct WordRules {
  std::vector<GlossaryEntry> glossary;     // must be followed
  std::shared_ptr<SharedGlossary> shared;  // likewise; null, unless it takes the place of glossary
  // Are followed where that does not lower the score of a sentence by more than this for each term.
  TermLists stored;
  float stored_max_loss = 5.0f;
  std::vector<std::string> never_say;
  std::vector<std::string> suppress_sequences;
  std::vector<int32_t> suppress_token_ids;

  bool restricts() const {
    return !never_say.empty() || !suppress_sequences.empty() || !suppress_token_ids.empty();
  }
};

// The glossary of a request.  INVALID_ARGUMENT naming the entry that is empty or too long, or that
// has too many targets or repeats the source of another (CheckSources), or whose target the
// vocabulary cannot spell, has more than `max_tokens` tokens, or contains what `rules` forbid. Ends
// early if it is no longer wanted.
absl::StatusOr<std::shared_ptr<const TermList>> OwnTerms(const std::vector<GlossaryEntry>& entries,
                                                         const Tokenizer& tokenizer, int max_tokens,
                                                         const SearchRules& rules,
                                                         StillWanted* wanted);

// The phrase that says a term, in those of its forms that the vocabulary can spell in so many
// tokens, and that `rules` allow; without forms if there are none.  It must be said.  Forms are
// missing if they are no longer wanted.
Phrase PhraseOf(const FoundTerm& term, const Tokenizer& tokenizer, int max_tokens,
                const SearchRules& rules, StillWanted* wanted);

// The first of these phrases that repeats a run of `size` tokens, of itself, of those before it or
// of `said`, in whichever form; nothing if none does.  Phrases that may be missed do not count.
std::optional<size_t> FirstRepetition(absl::Span<const int32_t> said,
                                      absl::Span<const Phrase> phrases, size_t size);

// Adds a request's rules to those of the model, each once.  INVALID_ARGUMENT naming the entry that
// is empty, too long or not a token, or the field that has too many phrases.  Ends early if it is
// no longer wanted.
absl::StatusOr<std::shared_ptr<const SearchRules>> AddWordRules(
    const std::shared_ptr<const SearchRules>& models, const WordRules& words,
    const Tokenizer& tokenizer, std::shared_ptr<const PieceIndex> pieces, StillWanted* wanted);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_REQUEST_GLOSSARY_H_
