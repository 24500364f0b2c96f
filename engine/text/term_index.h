// Finds all of very many terms in a text, in one walk over it, however many there are.
//
//   terms  house, house boat, boat         text  My house  boat’s old.
//   found  house [3, 8), house boat [3, 14), boat [10, 14)
//
// The walk is that of Aho and Corasick (1975).  Text and terms are read alike: any white space is
// one space, apostrophes and hyphens have one form each, and what is invisible is skipped.
//
// Of a place where terms end, the occurrences come one by one, the longest first, as far as they
// are asked for.  So what a search holds grows with the text, and not with the number of terms; and
// it takes at most as many steps for each place as the longest term has bytes.

#ifndef DRAGOMAN_ENGINE_TEXT_TERM_INDEX_H_
#define DRAGOMAN_ENGINE_TEXT_TERM_INDEX_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "engine/text/text_span.h"

namespace dragoman {

struct Term {
  std::string text;          // valid UTF-8
  bool ignore_case = false;  // otherwise it is found as it is written
};

// Terms with equal keys are found in the same places.  REQUIRES: the text is valid UTF-8.
std::string TermKey(std::string_view text, bool ignore_case);

struct TermMatch {
  size_t term = 0;
  TextSpan span;  // whole words of the text
};

// An occurrence of terms that are equal but for their case.
struct TermOccurrence {
  TextSpan span;  // whole words of the text
  // Those that are written like this, and those that ignore case; each in their own order.  Equal
  // terms are here together.
  std::array<absl::Span<const uint32_t>, 2> terms;
};

// A text as indexes read it; the text must outlive it.  REQUIRES: it is valid UTF-8.
class FoldedText {
 public:
  explicit FoldedText(std::string_view text);

  std::string_view text() const { return text_; }
  std::string_view folded() const { return folded_; }  // in lower case
  // The bytes of the text that these bytes of what is read are, and how they are written there.
  // REQUIRES: they are whole characters, at least one.
  TextSpan SpanOf(TextSpan folded) const;
  std::string_view WrittenAt(TextSpan folded) const;

 private:
  struct Character {
    uint32_t folded = 0;   // its first byte in folded_
    uint32_t written = 0;  // and in written_
    TextSpan span;         // of the text
  };
  size_t At(size_t byte) const;

  const std::string_view text_;
  std::string folded_;
  // Up to this byte it is read as it is written, but for case; mostly, that is all of it.
  const size_t plain_;
  // If it is not: all, and the characters from that byte on and an end.
  std::string written_;
  std::vector<Character> characters_;
};

// Immutable.  Takes about 20 bytes per byte of the terms that others do not begin with.
class TermIndex {
 public:
  // A place of a text where terms end.
  class End {
   private:
    friend class TermIndex;
    uint32_t node = 0;  // the terms that were not asked for yet; 0: there are none
    size_t end = 0;     // in the folded text
  };

  TermIndex() : TermIndex(absl::Span<const Term>()) {}
  explicit TermIndex(absl::Span<const Term> terms);

  // The places where terms end, in order.  A term without any character is found nowhere.
  std::vector<End> EndsIn(const FoldedText& text) const;

  // The longest occurrence that ends there, has at most so many bytes of the text, and was not
  // asked for yet; nothing if there is none.  Moves *end past it.
  std::optional<TermOccurrence> Next(const FoldedText& text, size_t most, End* end) const;

  // Calls `see` for all occurrences of all terms, those that overlap as well, in the order of their
  // ends; of equal terms, only for the first.  REQUIRES: text is valid UTF-8.
  void Find(std::string_view text, absl::FunctionRef<void(const TermMatch&)> see) const;

 private:
  // A beginning of terms.  The children of node n are the nodes from first_child of n up to that of
  // n + 1, in the order of their bytes.
  struct Node {
    uint32_t first_child = 0;
    uint32_t fallback = 0;   // the longest end of it that is a node, too; the root of the root
    uint32_t shorter = 0;    // the longest end of it that is a term; the root: none
    uint32_t group = kNone;  // of the terms that it is; kNone: it is none
    uint8_t byte = 0;        // its last one
  };
  static constexpr uint32_t kNone = ~uint32_t{0};
  // Terms that are equal but for their case: those of order_ from first up to last.
  struct Group {
    uint32_t first = 0, last = 0;
    uint32_t length = 0;  // bytes of what is read of them
  };

  uint32_t Child(uint32_t node, uint8_t byte) const;
  uint32_t After(uint32_t node, uint8_t byte) const;
  void AddNodes(absl::Span<const std::string> folded);
  void AddFallbacks();
  absl::Span<const uint32_t> Written(const Group& group, std::string_view exact) const;

  std::vector<Node> nodes_;  // the root first, then the shorter before the longer; then a last one
  std::array<uint32_t, 256> first_ = {};  // by byte, the child of the root, or the root
  std::vector<Group> groups_;
  std::vector<uint32_t> order_;  // terms, by what is read of them, then by exact_, then their own
  std::vector<std::string> exact_;  // by term: as it must be written; "": in any case
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_TERM_INDEX_H_
