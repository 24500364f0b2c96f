#include "engine/search/phrases.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/algorithm/container.h"
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
  return absl::c_any_of(
      phrases, [](const Phrase& phrase) { return phrase.source.begin < phrase.source.end; });
}

Phrases::Phrases(const std::vector<Phrase>& phrases, std::shared_ptr<const WordJoins> joins)
    : joins_(std::move(joins)) {
  DRAGOMAN_CHECK(phrases.size() <= kMax);
  for (size_t p = 0; p < phrases.size(); ++p) {
    lengths_.push_back(static_cast<int>(phrases[p].least()));
    tokens_ += lengths_.back();
  }
  AddNodes(phrases);
}

// Goes through the sorted forms once for each of their tokens: those that agree so far are a node.
void Phrases::AddNodes(const std::vector<Phrase>& phrases) {
  std::vector<std::pair<absl::Span<const int32_t>, size_t>> forms;  // each with its phrase
  for (size_t p = 0; p < phrases.size(); ++p) {
    for (const std::vector<int32_t>& form : phrases[p].forms) forms.emplace_back(form, p);
  }
  absl::c_sort(forms, [](const auto& a, const auto& b) {
    return std::lexicographical_compare(a.first.begin(), a.first.end(), b.first.begin(),
                                        b.first.end());
  });
  struct Range {
    size_t begin, end;  // of forms
  };
  std::vector<Range> level = {{0, forms.size()}}, next;
  nodes_.emplace_back();
  for (size_t depth = 0, node = 0; !level.empty(); ++depth) {
    next.clear();
    for (auto [i, end] : level) {
      for (size_t f = i; f < end; ++f) nodes_[node].forms |= uint64_t{1} << forms[f].second;
      for (; i < end && forms[i].first.size() == depth; ++i) {
        nodes_[node].complete |= uint64_t{1} << forms[i].second;
      }
      nodes_[node++].first_child = static_cast<uint32_t>(nodes_.size());
      while (i < end) {
        const int32_t token = forms[i].first[depth];
        const size_t first = i;
        while (i < end && forms[i].first[depth] == token) ++i;
        next.push_back({first, i});
        nodes_.emplace_back().token = token;
      }
    }
    std::swap(level, next);
  }
  const auto all = static_cast<uint32_t>(nodes_.size());
  nodes_.emplace_back().first_child = all;
}

absl::Span<const Phrases::Node> Phrases::Children(uint32_t node) const {
  const uint32_t first = nodes_[node].first_child;
  return absl::MakeConstSpan(nodes_).subspan(first, nodes_[node + 1].first_child - first);
}

uint32_t Phrases::Child(uint32_t node, int32_t token) const {
  const absl::Span<const Node> children = Children(node);
  const auto child = absl::c_lower_bound(
      children, token, [](const Node& of, int32_t wanted) { return of.token < wanted; });
  if (child == children.end() || child->token != token) return kNone;
  return nodes_[node].first_child + static_cast<uint32_t>(child - children.begin());
}

// The last `length` tokens, if they begin a form, and do not begin within a word.
uint32_t Phrases::EndOf(absl::Span<const int32_t> tokens, int length) const {
  const size_t count = static_cast<size_t>(length);
  if (tokens.size() < count) return kNone;
  const size_t begin = tokens.size() - count;
  if (count > 0 && begin > 0 && Joins(tokens[begin - 1], tokens[begin])) return kNone;
  uint32_t node = 0;
  for (size_t i = begin; i < tokens.size() && node != kNone; ++i) node = Child(node, tokens[i]);
  return node;
}

// If the last word of the tokens ends there.  Of equal phrases, the first is said.
uint64_t Phrases::Said(absl::Span<const int32_t> tokens, const PhraseProgress& progress) const {
  if (progress.path == 0) return progress.said;
  const uint32_t node = EndOf(tokens, progress.path);
  if (node == kNone) return progress.said;
  const uint64_t complete = nodes_[node].complete & ~progress.said;
  return progress.said | (complete & (~complete + 1));
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
    if (next.path == 0 && joins) continue;
    const uint32_t node = EndOf(tokens, next.path);
    const uint32_t child = node == kNone ? kNone : Child(node, token);
    const uint64_t phrases = child == kNone ? 0 : nodes_[child].forms & ~next.said;
    if (phrases == 0) continue;
    return {next.said, next.path + 1,
            std::min(next.path + 1, lengths_[static_cast<size_t>(std::countr_zero(phrases))])};
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
  const uint32_t node = Child(0, token);
  return node == kNone ? 0 : nodes_[node].forms & ~progress.said;
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
  for (int path = 0; path <= progress.path; ++path) {
    const uint32_t node = EndOf(tokens, path);
    if (node == kNone) continue;
    for (const Node& child : Children(node)) {
      if ((child.forms & ~progress.said) != 0) next->push_back(child.token);
    }
  }
  absl::c_sort(*next);
  next->erase(std::unique(next->begin(), next->end()), next->end());
}

}  // namespace dragoman
