// Finds all of very many terms in a text, in one walk over it, however many there are.
//
//   terms  house, house boat, boat         text  My house  boat’s old.
//   found  house [3, 8), house boat [3, 14), boat [10, 14)
//
// The walk is that of Aho and Corasick (1975).  Text and terms are read alike: any white space is
// one space, apostrophes and hyphens have one form each, and what is invisible is skipped.

#ifndef DRAGOMAN_ENGINE_TEXT_TERM_INDEX_H_
#define DRAGOMAN_ENGINE_TEXT_TERM_INDEX_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "engine/text/text_span.h"

namespace dragoman {

struct Term {
  std::string text;          // valid UTF-8
  bool ignore_case = false;  // otherwise it is found as it is written
};

struct TermMatch {
  size_t term = 0;
  TextSpan span;  // whole words of the text
};

struct FoldedText;

// Immutable.  Takes about 20 bytes per byte of the terms that others do not begin with.
class TermIndex {
 public:
  TermIndex() : TermIndex(absl::Span<const Term>()) {}
  explicit TermIndex(absl::Span<const Term> terms);

  // All occurrences of all terms, those that overlap as well; in the order of their ends.  A term
  // without any character is found nowhere.  REQUIRES: text is valid UTF-8.
  std::vector<TermMatch> Find(std::string_view text) const;

 private:
  // A beginning of terms.  The children of node n are the nodes from first_child of n up to that of
  // n + 1, in the order of their bytes.
  struct Node {
    uint32_t first_child = 0;
    uint32_t fallback = 0;   // the longest end of it that is a node, too; the root of the root
    uint32_t shorter = 0;    // the longest end of it that is a term; the root: none
    uint32_t terms = kNone;  // the first place of the terms that it is; kNone: it is none
    uint8_t byte = 0;        // its last one
  };
  static constexpr uint32_t kNone = ~uint32_t{0};
  // A term, in the order of what is read of them; equal ones are in their own order.
  struct Place {
    uint32_t term = 0;
    uint32_t length = 0;  // bytes of what is read of it
    bool last = false;    // the next place has another one
  };

  uint32_t Child(uint32_t node, uint8_t byte) const;
  uint32_t After(uint32_t node, uint8_t byte) const;
  void AddNodes(absl::Span<const std::string> folded);
  void AddFallbacks();
  void Add(uint32_t node, const FoldedText& text, size_t end, std::vector<TermMatch>* found) const;

  std::vector<Node> nodes_;  // the root first, then the shorter before the longer; then a last one
  std::vector<Place> places_;
  std::vector<std::string> exact_;  // by term: as it must be written; "": in any case
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_TERM_INDEX_H_
