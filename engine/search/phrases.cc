#include "engine/search/phrases.h"

#include <algorithm>
#include <utility>

#include "engine/base/status.h"

namespace dragoman {

size_t Phrase::least() const {
  size_t length = forms.front().size();
  for (const std::vector<int32_t>& form : forms) length = std::min(length, form.size());
  return length;
}

size_t Phrase::most() const {
  size_t length = 0;
  for (const std::vector<int32_t>& form : forms) length = std::max(length, form.size());
  return length;
}

bool SearchTask::places_phrases() const {
  return std::any_of(phrases.begin(), phrases.end(),
                     [](const Phrase& phrase) { return phrase.source.begin < phrase.source.end; });
}

Phrases::Phrases(const std::vector<Phrase>& phrases, std::shared_ptr<const WordJoins> joins)
    : joins_(std::move(joins)) {
  DRAGOMAN_CHECK(phrases.size() <= kMax);
  for (size_t p = 0; p < phrases.size(); ++p) {
    for (const std::vector<int32_t>& form : phrases[p].forms) forms_.push_back({form, p});
    lengths_.push_back(static_cast<int>(phrases[p].least()));
    tokens_ += lengths_.back();
  }
}

// Whether the last `length` tokens begin the form, and do not begin within a word.
bool Phrases::EndsIn(absl::Span<const int32_t> tokens, const Form& form, int length) const {
  const size_t count = static_cast<size_t>(length);
  if (form.tokens.size() < count || tokens.size() < count) return false;
  const size_t begin = tokens.size() - count;
  return std::equal(tokens.begin() + begin, tokens.end(), form.tokens.begin()) &&
         (count == 0 || begin == 0 || !Joins(tokens[begin - 1], tokens[begin]));
}

// If the last word of the tokens ends there.  Of equal phrases, the first is said.
uint64_t Phrases::Said(absl::Span<const int32_t> tokens, const PhraseProgress& progress) const {
  for (const Form& form : forms_) {
    if (progress.path == 0) break;
    const bool complete = form.tokens.size() == static_cast<size_t>(progress.path);
    if (complete && !IsSaid(form, progress) && EndsIn(tokens, form, progress.path)) {
      return progress.said | uint64_t{1} << form.phrase;
    }
  }
  return progress.said;
}

PhraseProgress Phrases::After(absl::Span<const int32_t> tokens, const PhraseProgress& progress,
                              int32_t token) const {
  PhraseProgress next = progress;
  const bool joins = !tokens.empty() && Joins(tokens.back(), token);
  if (!joins) next.said = Said(tokens, progress);
  // Tokens that have completed a phrase do not begin another one.
  if (next.said != progress.said) next.path = 0;
  // The longest end of the tokens that, with this one, still begins a phrase.
  for (; next.path >= 0; --next.path) {
    const size_t path = static_cast<size_t>(next.path);
    if (path == 0 && joins) continue;
    for (const Form& form : forms_) {
      if (IsSaid(form, next) || form.tokens.size() <= path || form.tokens[path] != token) continue;
      if (!EndsIn(tokens, form, next.path)) continue;
      return {next.said, next.path + 1, std::min(next.path + 1, lengths_[form.phrase])};
    }
  }
  return {next.said, 0, 0};
}

PhraseProgress Phrases::ProgressOf(absl::Span<const int32_t> tokens) const {
  PhraseProgress progress;
  for (size_t i = 0; i < tokens.size(); ++i) {
    progress = After(tokens.first(i), progress, tokens[i]);
  }
  return progress;
}

uint64_t Phrases::Begun(const PhraseProgress& progress, int32_t token) const {
  uint64_t begun = 0;
  for (const Form& form : forms_) {
    if (form.tokens.front() == token) begun |= uint64_t{1} << form.phrase;
  }
  return begun & ~progress.said;
}

int Phrases::TokensSaid(const PhraseProgress& progress) const {
  int tokens = progress.counted;
  for (size_t p = 0; p < lengths_.size(); ++p) {
    if ((progress.said >> p & 1) != 0) tokens += lengths_[p];
  }
  return tokens;
}

void Phrases::Next(absl::Span<const int32_t> tokens, const PhraseProgress& progress,
                   std::vector<int32_t>* next) const {
  next->clear();
  for (const Form& form : forms_) {
    if (IsSaid(form, progress)) continue;
    for (int path = 0; path <= progress.path; ++path) {
      if (form.tokens.size() > static_cast<size_t>(path) && EndsIn(tokens, form, path)) {
        next->push_back(form.tokens[path]);
      }
    }
  }
  std::sort(next->begin(), next->end());
  next->erase(std::unique(next->begin(), next->end()), next->end());
}

}  // namespace dragoman
