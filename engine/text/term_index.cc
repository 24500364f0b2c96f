// Terms are a trie over the bytes of their lower case.  If the walk can go no further, it goes on
// from the longest end of what it has read that is in the trie:
//
//   terms  she, hers        root ─s─ s ─h─ sh ─e─ she
//   text   shers                ─h─ h ─e─ he ─r─ her ─s─ hers
//
//   after "she", which is a term, there is no r; its longest end that is a node is "he"
//
// Nodes are in the order of their depth, so that the children of a node lie side by side, right
// before those of the next node.

#include "engine/text/term_index.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "engine/base/utf8.h"
#include "engine/text/letter_case.h"
#include "engine/text/words.h"

namespace dragoman {
namespace {

bool IsInvisible(char32_t c) {
  return c == 0xAD || (c >= 0x200B && c <= 0x200D) || c == 0x2060 || c == 0xFEFF;
}

// What the character is read as, besides its case.
char32_t ReadCharacter(char32_t c) {
  if (IsWhiteSpace(c)) return ' ';
  if (c == 0x2018 || c == 0x2019 || c == 0x02BC) return '\'';
  if (c == 0x2010 || c == 0x2011) return '-';
  return c;
}

// Calls `add` with what is read from a byte on, before which all was read as it is written, and
// with the bytes of the text that it is.
template <typename Add>
void ForEachRead(std::string_view text, size_t i, Add add) {
  bool after_space = i > 0 && text[i - 1] == ' ';
  while (i < text.size()) {
    const size_t begin = i;
    const char32_t c = NextCodePoint(text, &i);
    if (IsInvisible(c)) continue;
    const char32_t read = ReadCharacter(c);
    if (read != ' ' || !after_space) add(read, TextSpan{begin, i});
    after_space = read == ' ';
  }
}

std::string ReadAll(std::string_view text, bool fold) {
  std::string all;
  ForEachRead(StripWhiteSpace(text), 0,
              [&](char32_t c, TextSpan) { AppendUtf8(fold ? LowerCase(c) : c, &all); });
  return all;
}

// Makes a text lower case as far as it is read as it is written, and its characters keep their
// places; returns how far.
size_t FoldInPlace(std::string* text) {
  for (size_t i = 0; i < text->size();) {
    const size_t begin = i;
    const char32_t c = NextCodePoint(*text, &i);
    if (c > ' ' && c < 0x80) {
      (*text)[begin] = absl::ascii_tolower(static_cast<unsigned char>(c));
      continue;
    }
    const bool is_second_space = c == ' ' && begin > 0 && (*text)[begin - 1] == ' ';
    if (IsInvisible(c) || ReadCharacter(c) != c || is_second_space) return begin;
    std::string lower;
    AppendUtf8(LowerCase(c), &lower);
    if (lower.size() != i - begin) return begin;
    text->replace(begin, lower.size(), lower);
  }
  return text->size();
}

}  // namespace

std::string TermKey(std::string_view text, bool ignore_case) {
  return (ignore_case ? "i" : "w") + ReadAll(text, /*fold=*/ignore_case);
}

FoldedText::FoldedText(std::string_view text)
    : text_(text), folded_(text), plain_(FoldInPlace(&folded_)) {
  if (plain_ == text.size()) return;
  folded_.resize(plain_);
  written_ = text.substr(0, plain_);
  characters_.reserve(text.size() - plain_ + 1);
  const auto add = [this](TextSpan span) {
    characters_.push_back(
        {static_cast<uint32_t>(folded_.size()), static_cast<uint32_t>(written_.size()), span});
  };
  ForEachRead(text, plain_, [&](char32_t c, TextSpan span) {
    add(span);
    AppendUtf8(LowerCase(c), &folded_);
    AppendUtf8(c, &written_);
  });
  add({text.size(), text.size()});
}

// The index of the character that begins at that byte or, if there is none, before it.  REQUIRES:
// byte >= plain_.
size_t FoldedText::At(size_t byte) const {
  const auto after = std::upper_bound(
      characters_.begin(), characters_.end(), byte,
      [](size_t wanted, const Character& character) { return wanted < character.folded; });
  return static_cast<size_t>(after - characters_.begin()) - 1;
}

TextSpan FoldedText::SpanOf(TextSpan folded) const {
  const size_t begin =
      folded.begin < plain_ ? folded.begin : characters_[At(folded.begin)].span.begin;
  return {begin, folded.end <= plain_ ? folded.end : characters_[At(folded.end - 1)].span.end};
}

std::string_view FoldedText::WrittenAt(TextSpan folded) const {
  if (folded.end <= plain_) return text_.substr(folded.begin, folded.size());
  const size_t begin = folded.begin < plain_ ? folded.begin : characters_[At(folded.begin)].written;
  const size_t end = characters_[At(folded.end - 1) + 1].written;
  return std::string_view(written_).substr(begin, end - begin);
}

TermIndex::TermIndex(absl::Span<const Term> terms) {
  std::vector<std::string> folded;
  for (uint32_t t = 0; t < terms.size(); ++t) {
    folded.push_back(ReadAll(terms[t].text, /*fold=*/true));
    exact_.push_back(terms[t].ignore_case ? "" : ReadAll(terms[t].text, /*fold=*/false));
    if (!folded[t].empty()) order_.push_back(t);
  }
  std::sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) {
    return std::tie(folded[a], exact_[a], a) < std::tie(folded[b], exact_[b], b);
  });
  AddNodes(folded);
  AddFallbacks();
}

// Goes through the sorted terms once for each of their bytes: those that agree so far are a node.
void TermIndex::AddNodes(absl::Span<const std::string> folded) {
  struct Range {
    uint32_t begin, end;  // of order_
  };
  std::vector<Range> level = {{0, static_cast<uint32_t>(order_.size())}}, next;
  nodes_.emplace_back();
  for (size_t depth = 0, node = 0; !level.empty(); ++depth) {
    next.clear();
    for (auto [i, end] : level) {
      const uint32_t begin = i;
      while (i < end && folded[order_[i]].size() == depth) ++i;
      if (i > begin) {
        nodes_[node].group = static_cast<uint32_t>(groups_.size());
        groups_.push_back({begin, i, static_cast<uint32_t>(depth)});
      }
      nodes_[node++].first_child = static_cast<uint32_t>(nodes_.size());
      while (i < end) {
        const char byte = folded[order_[i]][depth];
        const uint32_t first = i;
        while (i < end && folded[order_[i]][depth] == byte) ++i;
        next.push_back({first, i});
        nodes_.emplace_back().byte = static_cast<uint8_t>(byte);
      }
    }
    std::swap(level, next);
  }
  const auto all = static_cast<uint32_t>(nodes_.size());
  nodes_.emplace_back().first_child = all;
  nodes_.shrink_to_fit();
}

// The child of a node, or the root.
uint32_t TermIndex::Child(uint32_t node, uint8_t byte) const {
  const auto begin = nodes_.begin() + nodes_[node].first_child;
  const auto end = nodes_.begin() + nodes_[node + 1].first_child;
  const auto child = std::lower_bound(
      begin, end, byte, [](const Node& of, uint8_t wanted) { return of.byte < wanted; });
  return child != end && child->byte == byte ? static_cast<uint32_t>(child - nodes_.begin()) : 0;
}

// The child of a node or, if it has none, of the longest end that has one; or else the root.
uint32_t TermIndex::After(uint32_t node, uint8_t byte) const {
  for (; node != 0; node = nodes_[node].fallback) {
    if (const uint32_t child = Child(node, byte); child != 0) return child;
  }
  return first_[byte];
}

void TermIndex::AddFallbacks() {
  for (uint32_t c = nodes_[0].first_child; c < nodes_[1].first_child; ++c) {
    first_[nodes_[c].byte] = c;
  }
  for (uint32_t node = 0; node + 1 < nodes_.size(); ++node) {
    for (uint32_t c = nodes_[node].first_child; c < nodes_[node + 1].first_child; ++c) {
      const uint32_t fallback = node == 0 ? 0 : After(nodes_[node].fallback, nodes_[c].byte);
      nodes_[c].fallback = fallback;
      nodes_[c].shorter = nodes_[fallback].group != kNone ? fallback : nodes_[fallback].shorter;
    }
  }
}

std::vector<TermIndex::End> TermIndex::EndsIn(const FoldedText& text) const {
  std::vector<End> ends;
  if (order_.empty()) return ends;
  uint32_t node = 0;
  for (size_t i = 0; i < text.folded().size(); ++i) {
    node = After(node, static_cast<uint8_t>(text.folded()[i]));
    End end;
    end.node = nodes_[node].group != kNone ? node : nodes_[node].shorter;
    end.end = i + 1;
    if (end.node == 0) continue;
    if (EndsWordAt(text.text(), text.SpanOf({i, i + 1}).end)) ends.push_back(end);
  }
  return ends;
}

// The terms of a group that are to be written like this; "": in any case.
absl::Span<const uint32_t> TermIndex::Written(const Group& group, std::string_view exact) const {
  const absl::Span<const uint32_t> all =
      absl::MakeConstSpan(order_).subspan(group.first, group.last - group.first);
  const auto first =
      std::lower_bound(all.begin(), all.end(), exact,
                       [this](uint32_t t, std::string_view other) { return exact_[t] < other; });
  const auto last =
      std::upper_bound(first, all.end(), exact,
                       [this](std::string_view other, uint32_t t) { return other < exact_[t]; });
  return all.subspan(static_cast<size_t>(first - all.begin()), static_cast<size_t>(last - first));
}

std::optional<TermOccurrence> TermIndex::Next(const FoldedText& text, size_t most, End* end) const {
  while (end->node != 0) {
    const Node& node = nodes_[end->node];
    const Group& group = groups_[node.group];
    const TextSpan folded = {end->end - group.length, end->end};
    end->node = node.shorter;
    TermOccurrence found = {.span = text.SpanOf(folded)};
    if (found.span.size() > most) continue;
    if (!IsWholeWord(text.text(), found.span.begin, found.span.end)) continue;
    found.terms = {Written(group, text.WrittenAt(folded)), Written(group, "")};
    if (!found.terms[0].empty() || !found.terms[1].empty()) return found;
  }
  return std::nullopt;
}

void TermIndex::Find(std::string_view text, absl::FunctionRef<void(const TermMatch&)> see) const {
  const FoldedText folded(text);
  for (End end : EndsIn(folded)) {
    while (const auto found = Next(folded, text.size(), &end)) {
      std::array<uint32_t, 2> first = {kNone, kNone};
      for (size_t i = 0; i < first.size(); ++i) {
        if (!found->terms[i].empty()) first[i] = found->terms[i].front();
      }
      std::sort(first.begin(), first.end());
      for (const uint32_t term : first) {
        if (term != kNone) see({term, found->span});
      }
    }
  }
}

}  // namespace dragoman
