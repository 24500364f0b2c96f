// The inline structure of one block of Markdown: emphasis, links, code, as an InlineText.
//
// The parser (markdown_reader.cc) says which text stands where in the source, and which spans begin
// and end between; their markers stand in the gaps between the texts, and are found there:
//
//   One *big [dog](/d)* barks.      "One ", EM begins, "big ", LINK begins, "dog", LINK ends, EM
//                                   ends, " barks."; between "dog" and " barks." is "](/d)*"

#ifndef DRAGOMAN_DOCUMENTS_MARKDOWN_INLINE_H_
#define DRAGOMAN_DOCUMENTS_MARKDOWN_INLINE_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "documents/document.h"

namespace dragoman {

struct MarkdownEvent {
  enum Kind { kBegin, kEnd, kText, kEntity, kHtml, kSoftBreak, kHardBreak } kind;
  enum Span { kNone, kEmphasis, kStrong, kStrike, kLink, kImage, kCode } span = kNone;
  // Of kText, kEntity and kHtml: bytes of the source, or both 0 if they are not there.
  size_t begin = 0, end = 0;
};

// Where a block stands.
struct MarkdownBlock {
  bool table = false;  // in a cell
  bool line = false;   // at the beginning of a line, where "1. " would begin a list
};

// The passages of a block: one, or several if it is long.  None if it has no words, or markers that
// are not where they are expected: then it stays as it is, as it does if `patience` does not last.
// Their lines are not set.  The events are those of `mask` (markdown_mask.h).
std::vector<Passage> MarkdownPassages(std::string_view source, std::string_view mask,
                                      const std::vector<MarkdownEvent>& events,
                                      const MarkdownBlock& block, Patience* patience);

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_MARKDOWN_INLINE_H_
