#include "engine/request/terms.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "engine/text/endings.h"
#include "engine/text/language_tag.h"
#include "engine/text/letter_case.h"
#include "engine/text/longest_terms.h"

namespace dragoman {
namespace {

TermIndex IndexOf(const std::vector<GlossaryEntry>& entries) {
  std::vector<Term> terms;
  terms.reserve(entries.size());
  for (const GlossaryEntry& entry : entries) {
    const bool is_for_none = entry.texts.has_value() && entry.texts->empty();
    terms.push_back({is_for_none ? "" : entry.source, entry.ignore_case});
  }
  return TermIndex(terms);
}

// The work of making the forms of an entry.
size_t WorkOf(const GlossaryEntry& entry) {
  constexpr size_t kPerEnding = 32;  // there are about so many
  size_t bytes = entry.source.size();
  for (const std::string& target : entry.targets) bytes += target.size();
  return entry.inflect ? kPerEnding * bytes : bytes;
}

// What may stand for an entry that the text writes like this; `in_capitals`: and shouts.
std::vector<std::string> FormsOf(const GlossaryEntry& entry, std::string_view written,
                                 bool in_capitals, std::string_view language) {
  if (entry.targets.empty()) return {entry.ignore_case ? std::string(written) : entry.source};
  std::vector<std::string> forms;  // in the order in which they come, each once
  std::unordered_set<std::string> known;
  const auto add = [&](std::string form) {
    if (known.insert(form).second) forms.push_back(std::move(form));
  };
  for (const std::string& target : entry.targets) add(target);
  for (const std::string& target : entry.targets) {
    if (!entry.inflect) break;
    for (std::string& form : Inflected(target, language)) add(std::move(form));
  }
  if (!entry.ignore_case) return forms;
  const std::vector<std::string> as_given = forms;
  for (const std::string& form : as_given) add(Capitalized(form));
  if (!in_capitals || IsInUpperCase(entry.source)) return forms;
  for (const std::string& form : as_given) add(InUpperCase(form));
  return forms;
}

// The forms of the entries of some lists, made once for all of their occurrences in a text.
class FormsInText {
 public:
  FormsInText(absl::Span<const std::shared_ptr<const TermList>> lists, std::string_view target)
      : lists_(lists), target_(target) {}

  TermForms Of(size_t list, size_t entry, std::string_view written) {
    const GlossaryEntry& of = lists_[list]->entries()[entry];
    const bool in_capitals = of.ignore_case && IsInUpperCase(written);
    TermForms& known = known_[{list, entry, in_capitals}];
    if (known != nullptr && !of.targets.empty()) return known;
    const std::string& own = lists_[list]->languages().target;
    known = std::make_shared<const std::vector<std::string>>(
        FormsOf(of, written, in_capitals, own.empty() ? target_ : std::string_view(own)));
    return known;
  }

 private:
  const absl::Span<const std::shared_ptr<const TermList>> lists_;
  const std::string_view target_;
  std::map<std::tuple<size_t, size_t, bool>, TermForms> known_;
};

}  // namespace

absl::Status CheckSources(const std::string& field, absl::Span<const GlossaryEntry> entries) {
  std::unordered_map<std::string, size_t> known;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].texts.has_value()) continue;
    const auto [before, is_new] =
        known.emplace(TermKey(entries[i].source, entries[i].ignore_case), i);
    if (is_new) continue;
    return InvalidField(absl::StrCat(field, "[", i, "].source"), "entry ", i,
                        " repeats the source of entry ", before->second);
  }
  return absl::OkStatus();
}

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
                                 std::string_view text, size_t number, std::string_view target,
                                 StillWanted* wanted) {
  StillWanted always;
  if (wanted == nullptr) wanted = &always;
  std::vector<FoundTerm> found;
  if (!wanted->After(text.size() * lists.size()).ok()) return found;
  std::vector<const TermIndex*> indexes;
  for (const std::shared_ptr<const TermList>& list : lists) indexes.push_back(&list->index());
  const auto is_for = [&](size_t list, size_t entry) {
    const auto& texts = lists[list]->entries()[entry].texts;
    return !texts.has_value() || std::find(texts->begin(), texts->end(), number) != texts->end();
  };
  const auto first_entry = [&](size_t list, const TermOccurrence& there) {
    std::optional<size_t> first;
    for (const absl::Span<const uint32_t> equal : there.terms) {
      for (const uint32_t entry : equal) {
        if (!is_for(list, entry)) continue;
        first = std::min<size_t>(first.value_or(entry), entry);
        break;
      }
    }
    return first;
  };
  FormsInText forms(lists, target);
  const auto take = [&](size_t list, size_t number_of_entry, TextSpan span) {
    const GlossaryEntry& entry = lists[list]->entries()[number_of_entry];
    if (!wanted->After(WorkOf(entry)).ok()) return;
    found.push_back({lists[list]->glossary(), entry.source, span,
                     forms.Of(list, number_of_entry, text.substr(span.begin, span.size()))});
  };
  TakeLongest(indexes, text, TermOrder::kByTerm, first_entry, take);
  return found;
}

std::vector<FoundTerm> UnmetTerms(std::string_view translation, std::vector<FoundTerm> terms) {
  if (terms.empty()) return terms;
  // Terms that share their forms, in order, of which so many are met.
  struct Sharers {
    std::vector<size_t> terms;
    size_t met = 0;
  };
  std::vector<Sharers> sharers;
  std::vector<Term> forms;
  std::vector<std::vector<size_t>> of;  // by form: which sharers have it
  std::map<TermForms, size_t> known;
  std::unordered_map<std::string, size_t> known_forms;
  for (size_t t = 0; t < terms.size(); ++t) {
    const auto [group, is_new] = known.emplace(terms[t].forms, sharers.size());
    if (is_new) {
      sharers.emplace_back();
      for (const std::string& form : *terms[t].forms) {
        const auto [number, is_new_form] = known_forms.emplace(form, forms.size());
        if (is_new_form) {
          forms.push_back({form});
          of.emplace_back();
        }
        of[number->second].push_back(group->second);
      }
    }
    sharers[group->second].terms.push_back(t);
  }
  const TermIndex index(forms);
  // Those whose next unmet term comes before those of the others.
  const auto next_sharers = [&](size_t, const TermOccurrence& found) {
    std::optional<size_t> next;
    const auto term = [&](size_t s) { return sharers[s].terms[sharers[s].met]; };
    for (const uint32_t form : found.terms[0]) {
      for (const size_t s : of[form]) {
        if (sharers[s].met == sharers[s].terms.size()) continue;
        if (!next.has_value() || term(s) < term(*next)) next = s;
      }
    }
    return next;
  };
  TakeLongest({&index}, translation, TermOrder::kByPlace, next_sharers,
              [&](size_t, size_t s, TextSpan) { ++sharers[s].met; });
  std::vector<bool> met(terms.size(), false);
  for (const Sharers& group : sharers) {
    for (size_t i = 0; i < group.met; ++i) met[group.terms[i]] = true;
  }
  std::vector<FoundTerm> unmet;
  for (size_t t = 0; t < terms.size(); ++t) {
    if (!met[t]) unmet.push_back(std::move(terms[t]));
  }
  return unmet;
}

}  // namespace dragoman
