// Terms that a text has, and what its translation is to call them.
//
//   entries   house -> Haus | Hauses | Häuser      text   My house boat, a house.
//             house boat -> Hausboot               terms  house boat [3, 13), house [17, 22)
//
// Any form of a term will do.  If terms overlap, the longest one counts.

#ifndef DRAGOMAN_ENGINE_REQUEST_TERMS_H_
#define DRAGOMAN_ENGINE_REQUEST_TERMS_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/request/still_wanted.h"
#include "engine/text/languages.h"
#include "engine/text/term_index.h"
#include "engine/text/text_span.h"

namespace dragoman {

inline constexpr size_t kMaxTermBytes = 1024;
inline constexpr size_t kMaxTermTargets = 32;  // of an entry

// Where a text contains `source`, its translation contains one of `targets`.
struct GlossaryEntry {
  std::string source;
  std::vector<std::string> targets = {};  // none: what the text has, which is not translated
  // The source is found in any case, and a target may begin with a capital letter; for a source in
  // capitals it may be in capitals.
  bool ignore_case = false;
  std::optional<std::vector<size_t>> texts = std::nullopt;  // the request's texts that it is for
  bool inflect = false;  // targets may have the endings of their language, too (endings.h)

  bool operator==(const GlossaryEntry&) const = default;
};

// INVALID_ARGUMENT if one of the entries of a list, which is `field` of a request, is found where
// an earlier one is, so that it would never be used.  Those that are for some texts only may be.
// REQUIRES: the sources are valid UTF-8.
absl::Status CheckSources(const std::string& field, absl::Span<const GlossaryEntry> entries);

// Entries, and an index that finds them.  Of entries that are found in the same places, the first
// counts.  Immutable, and shared by the requests that use them.
class TermList {
 public:
  explicit TermList(std::vector<GlossaryEntry> entries, std::string glossary = "",
                    LanguagePair languages = {});

  const std::vector<GlossaryEntry>& entries() const { return entries_; }
  const TermIndex& index() const { return index_; }
  // The id of the stored glossary that it belongs to; "": it is the request's own.
  const std::string& glossary() const { return glossary_; }
  bool is_stored() const { return !glossary_.empty(); }

  // As tags; "": any.
  const LanguagePair& languages() const { return languages_; }

  // Whether it is for translations between these languages, which are tags or a model's codes.
  bool IsFor(const LanguagePair& languages) const;

 private:
  const std::vector<GlossaryEntry> entries_;
  const TermIndex index_;
  const std::string glossary_;
  const LanguagePair languages_;
};
using TermLists = std::vector<std::shared_ptr<const TermList>>;

// What a term may be called: shared by its occurrences.
using TermForms = std::shared_ptr<const std::vector<std::string>>;

// A term of a text.
struct FoundTerm {
  std::string glossary;  // as in TermList
  std::string source;    // of its entry
  TextSpan span;         // of the text
  TermForms forms;       // at least one, each once
  bool is_stored() const { return !glossary.empty(); }
};

// The terms of a request's text number `number`, or of a sentence of it: the longest first, then
// those of earlier lists and entries, then those before the others.  Lists for any target language
// are for `target`.  Some are missing if they are no longer `wanted`.  REQUIRES: text is valid
// UTF-8.
std::vector<FoundTerm> FindTerms(absl::Span<const std::shared_ptr<const TermList>> lists,
                                 std::string_view text, size_t number = 0,
                                 std::string_view target = "", StillWanted* wanted = nullptr);

// Those terms that a translation does not have, each in one of its forms, as whole words and as
// often as they are listed.  REQUIRES: translation is valid UTF-8.
std::vector<FoundTerm> UnmetTerms(std::string_view translation, std::vector<FoundTerm> terms);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_REQUEST_TERMS_H_
