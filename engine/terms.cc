#include "engine/terms.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/text/endings.h"
#include "engine/text/language_tag.h"
#include "engine/text/letter_case.h"

namespace dragoman {
namespace {

TermIndex IndexOf(const std::vector<GlossaryEntry>& entries) {
  std::vector<Term> terms;
  terms.reserve(entries.size());
  for (const GlossaryEntry& entry : entries) terms.push_back({entry.source, entry.ignore_case});
  return TermIndex(terms);
}

void AddOnce(std::string form, std::vector<std::string>* forms) {
  if (std::find(forms->begin(), forms->end(), form) == forms->end()) {
    forms->push_back(std::move(form));
  }
}

// What may stand for an entry that the text writes like this.
std::vector<std::string> FormsOf(const GlossaryEntry& entry, std::string_view written,
                                 std::string_view language) {
  if (entry.targets.empty()) return {entry.ignore_case ? std::string(written) : entry.source};
  std::vector<std::string> forms;
  for (const std::string& target : entry.targets) AddOnce(target, &forms);
  for (const std::string& target : entry.targets) {
    if (!entry.inflect) break;
    for (std::string& form : Inflected(target, language)) AddOnce(std::move(form), &forms);
  }
  if (!entry.ignore_case) return forms;
  const std::vector<std::string> as_given = forms;
  for (const std::string& form : as_given) AddOnce(Capitalized(form), &forms);
  if (!IsInUpperCase(written) || IsInUpperCase(entry.source)) return forms;
  for (const std::string& form : as_given) AddOnce(InUpperCase(form), &forms);
  return forms;
}

// The bytes of a text that are part of something already.
class TakenBytes {
 public:
  explicit TakenBytes(size_t size) : taken_(size, false) {}

  // Takes them, unless any of them is taken.
  bool Take(TextSpan span) {
    const auto first = taken_.begin() + static_cast<std::ptrdiff_t>(span.begin);
    const auto last = first + static_cast<std::ptrdiff_t>(span.size());
    if (std::find(first, last, true) != last) return false;
    std::fill(first, last, true);
    return true;
  }

 private:
  std::vector<bool> taken_;
};

}  // namespace

TermList::TermList(std::vector<GlossaryEntry> entries, std::string glossary, LanguagePair languages)
    : entries_(std::move(entries)),
      index_(IndexOf(entries_)),
      glossary_(std::move(glossary)),
      languages_(std::move(languages)) {}

bool TermList::IsFor(const LanguagePair& languages) const {
  return IsLanguage(languages_.source, languages.source) &&
         IsLanguage(languages_.target, languages.target);
}

std::vector<FoundTerm> FindTerms(absl::Span<const std::shared_ptr<const TermList>> lists,
                                 std::string_view text, size_t number, std::string_view target) {
  struct Occurrence {
    size_t list;
    TermMatch match;
  };
  std::vector<Occurrence> all;
  for (size_t l = 0; l < lists.size(); ++l) {
    for (const TermMatch& match : lists[l]->index().Find(text)) {
      const auto& texts = lists[l]->entries()[match.term].texts;
      const bool is_for =
          !texts.has_value() || std::find(texts->begin(), texts->end(), number) != texts->end();
      if (is_for) all.push_back({l, match});
    }
  }
  std::sort(all.begin(), all.end(), [](const Occurrence& a, const Occurrence& b) {
    const size_t a_size = a.match.span.size(), b_size = b.match.span.size();
    return std::tie(b_size, a.list, a.match.term, a.match.span.begin) <
           std::tie(a_size, b.list, b.match.term, b.match.span.begin);
  });
  std::vector<FoundTerm> found;
  TakenBytes taken(text.size());
  for (const Occurrence& occurrence : all) {
    const TextSpan span = occurrence.match.span;
    if (!taken.Take(span)) continue;
    const TermList& list = *lists[occurrence.list];
    const GlossaryEntry& entry = list.entries()[occurrence.match.term];
    const std::string& own = list.languages().target;
    found.push_back({list.glossary(), entry.source, span,
                     FormsOf(entry, text.substr(span.begin, span.size()),
                             own.empty() ? target : std::string_view(own))});
  }
  return found;
}

std::vector<FoundTerm> UnmetTerms(std::string_view translation, std::vector<FoundTerm> terms) {
  if (terms.empty()) return terms;
  std::vector<Term> forms;
  std::vector<size_t> of;  // by form: its term
  for (size_t t = 0; t < terms.size(); ++t) {
    for (const std::string& form : terms[t].forms) {
      forms.push_back({form});
      of.push_back(t);
    }
  }
  std::vector<TermMatch> matches = TermIndex(forms).Find(translation);
  std::stable_sort(matches.begin(), matches.end(), [](const TermMatch& a, const TermMatch& b) {
    return a.span.size() > b.span.size();
  });
  std::vector<bool> met(terms.size(), false);
  TakenBytes taken(translation.size());
  for (const TermMatch& match : matches) {
    if (!met[of[match.term]]) met[of[match.term]] = taken.Take(match.span);
  }
  std::vector<FoundTerm> unmet;
  for (size_t t = 0; t < terms.size(); ++t) {
    if (!met[t]) unmet.push_back(std::move(terms[t]));
  }
  return unmet;
}

}  // namespace dragoman
