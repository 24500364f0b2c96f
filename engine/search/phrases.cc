#include "engine/search/phrases.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "engine/base/status.h"

namespace dragoman {

Phrases::Phrases(std::vector<std::vector<int32_t>> phrases, std::shared_ptr<const WordJoins> joins)
    : phrases_(std::move(phrases)), joins_(std::move(joins)) {
  DRAGOMAN_CHECK(phrases_.size() <= kMax);
  for (const std::vector<int32_t>& phrase : phrases_) tokens_ += static_cast<int>(phrase.size());
}

// Whether the last `length` tokens begin the phrase, and do not begin within a word.
bool Phrases::EndsIn(absl::Span<const int32_t> tokens, size_t phrase, int length) const {
  const size_t count = static_cast<size_t>(length);
  const std::vector<int32_t>& wanted = phrases_[phrase];
  if (wanted.size() < count || tokens.size() < count) return false;
  const size_t begin = tokens.size() - count;
  return std::equal(tokens.begin() + begin, tokens.end(), wanted.begin()) &&
         (count == 0 || begin == 0 || !Joins(tokens[begin - 1], tokens[begin]));
}

// The phrases said if the last word of the tokens ends there: of equal phrases, the first.
uint64_t Phrases::SaidAtTheEnd(absl::Span<const int32_t> tokens,
                               const PhraseProgress& progress) const {
  for (size_t p = 0; p < phrases_.size() && progress.path > 0; ++p) {
    const bool complete = phrases_[p].size() == static_cast<size_t>(progress.path);
    if (complete && !IsSaid(p, progress) && EndsIn(tokens, p, progress.path)) {
      return progress.said | uint64_t{1} << p;
    }
  }
  return progress.said;
}

PhraseProgress Phrases::After(absl::Span<const int32_t> tokens, const PhraseProgress& progress,
                              int32_t token) const {
  PhraseProgress next = progress;
  const bool joins = !tokens.empty() && Joins(tokens.back(), token);
  if (!joins) next.said = SaidAtTheEnd(tokens, progress);
  // Tokens that have completed a phrase do not begin another one.
  if (next.said != progress.said) next.path = 0;
  // The longest end of the tokens that, with this one, still begins a phrase.
  for (; next.path >= 0; --next.path) {
    const size_t path = static_cast<size_t>(next.path);
    if (path == 0 && joins) continue;
    for (size_t p = 0; p < phrases_.size(); ++p) {
      if (IsSaid(p, next) || phrases_[p].size() <= path || phrases_[p][path] != token) continue;
      if (EndsIn(tokens, p, next.path)) return {next.said, next.path + 1};
    }
  }
  return {next.said, 0};
}

int Phrases::Said(absl::Span<const int32_t> tokens, const PhraseProgress& progress) const {
  return std::popcount(SaidAtTheEnd(tokens, progress));
}

PhraseProgress Phrases::ProgressOf(absl::Span<const int32_t> tokens) const {
  PhraseProgress progress;
  for (size_t i = 0; i < tokens.size(); ++i) {
    progress = After(tokens.first(i), progress, tokens[i]);
  }
  return progress;
}

int Phrases::TokensSaid(const PhraseProgress& progress) const {
  int tokens = progress.path;
  for (size_t p = 0; p < phrases_.size(); ++p) {
    if (IsSaid(p, progress)) tokens += static_cast<int>(phrases_[p].size());
  }
  return tokens;
}

void Phrases::Next(absl::Span<const int32_t> tokens, const PhraseProgress& progress,
                   std::vector<int32_t>* next) const {
  next->clear();
  for (size_t p = 0; p < phrases_.size(); ++p) {
    if (IsSaid(p, progress)) continue;
    for (int path = 0; path <= progress.path; ++path) {
      if (phrases_[p].size() > static_cast<size_t>(path) && EndsIn(tokens, p, path)) {
        next->push_back(phrases_[p][path]);
      }
    }
  }
  std::sort(next->begin(), next->end());
  next->erase(std::unique(next->begin(), next->end()), next->end());
}

}  // namespace dragoman
