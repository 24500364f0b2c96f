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
#include <iterator>
#include <utility>

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

// Calls `add` with what is read and with the bytes of the text that it is.
template <typename Add>
void ForEachRead(std::string_view text, Add add) {
  bool after_space = false;
  for (size_t i = 0; i < text.size();) {
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
  ForEachRead(StripWhiteSpace(text),
              [&](char32_t c, TextSpan) { AppendUtf8(fold ? LowerCase(c) : c, &all); });
  return all;
}

}  // namespace

// A text in lower case, and where its characters came from.
struct FoldedText {
  struct Character {
    uint32_t folded = 0;  // its first byte
    TextSpan span;        // of the text
  };
  const std::string_view text;
  std::string bytes;
  std::vector<Character> characters;

  explicit FoldedText(std::string_view of) : text(of) {
    bytes.reserve(text.size());
    characters.reserve(text.size());
    ForEachRead(text, [&](char32_t c, TextSpan span) {
      characters.push_back({static_cast<uint32_t>(bytes.size()), span});
      AppendUtf8(LowerCase(c), &bytes);
    });
  }

  // The character that begins at that byte or, if there is none, before it.
  const Character& At(size_t byte) const {
    return *std::prev(std::upper_bound(
        characters.begin(), characters.end(), byte,
        [](size_t wanted, const Character& character) { return wanted < character.folded; }));
  }
};

TermIndex::TermIndex(absl::Span<const Term> terms) {
  std::vector<std::string> folded;
  for (uint32_t t = 0; t < terms.size(); ++t) {
    folded.push_back(ReadAll(terms[t].text, /*fold=*/true));
    exact_.push_back(terms[t].ignore_case ? "" : ReadAll(terms[t].text, /*fold=*/false));
    if (!folded[t].empty()) places_.push_back({t, static_cast<uint32_t>(folded[t].size())});
  }
  std::stable_sort(places_.begin(), places_.end(),
                   [&](const Place& a, const Place& b) { return folded[a.term] < folded[b.term]; });
  AddNodes(folded);
  AddFallbacks();
}

// Goes through the sorted terms once for each of their bytes: those that agree so far are a node.
void TermIndex::AddNodes(absl::Span<const std::string> folded) {
  struct Range {
    uint32_t begin, end;  // places
  };
  std::vector<Range> level = {{0, static_cast<uint32_t>(places_.size())}}, next;
  nodes_.emplace_back();
  for (size_t depth = 0, node = 0; !level.empty(); ++depth) {
    next.clear();
    for (auto [i, end] : level) {
      const uint32_t begin = i;
      while (i < end && places_[i].length == depth) ++i;
      if (i > begin) {
        nodes_[node].terms = begin;
        places_[i - 1].last = true;
      }
      nodes_[node++].first_child = static_cast<uint32_t>(nodes_.size());
      while (i < end) {
        const char byte = folded[places_[i].term][depth];
        const uint32_t first = i;
        while (i < end && folded[places_[i].term][depth] == byte) ++i;
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
  uint32_t child = Child(node, byte);
  while (child == 0 && node != 0) {
    node = nodes_[node].fallback;
    child = Child(node, byte);
  }
  return child;
}

void TermIndex::AddFallbacks() {
  for (uint32_t node = 0; node + 1 < nodes_.size(); ++node) {
    for (uint32_t c = nodes_[node].first_child; c < nodes_[node + 1].first_child; ++c) {
      const uint32_t fallback = node == 0 ? 0 : After(nodes_[node].fallback, nodes_[c].byte);
      nodes_[c].fallback = fallback;
      nodes_[c].shorter = nodes_[fallback].terms != kNone ? fallback : nodes_[fallback].shorter;
    }
  }
}

// Adds the terms that a node is, which end before that byte of the folded text.
void TermIndex::Add(uint32_t node, const FoldedText& text, size_t end,
                    std::vector<TermMatch>* found) const {
  uint32_t place = nodes_[node].terms;
  const size_t begin = end - places_[place].length;
  const TextSpan span = {text.At(begin).span.begin, text.At(end - 1).span.end};
  if (!IsWholeWord(text.text, span.begin, span.end)) return;
  const std::string written = ReadAll(text.text.substr(span.begin, span.size()), /*fold=*/false);
  for (bool more = true; more; ++place) {
    const std::string& exact = exact_[places_[place].term];
    if (exact.empty() || exact == written) found->push_back({places_[place].term, span});
    more = !places_[place].last;
  }
}

std::vector<TermMatch> TermIndex::Find(std::string_view text) const {
  std::vector<TermMatch> found;
  if (places_.empty()) return found;
  const FoldedText folded(text);
  uint32_t node = 0;
  for (size_t i = 0; i < folded.bytes.size(); ++i) {
    node = After(node, static_cast<uint8_t>(folded.bytes[i]));
    uint32_t term = nodes_[node].terms != kNone ? node : nodes_[node].shorter;
    for (; term != 0; term = nodes_[term].shorter) Add(term, folded, i + 1, &found);
  }
  return found;
}

}  // namespace dragoman
