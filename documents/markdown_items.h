// What stands in a block of Markdown, in order: texts, markers, code, tags (markdown_inline.h).

#ifndef DRAGOMAN_DOCUMENTS_MARKDOWN_ITEMS_H_
#define DRAGOMAN_DOCUMENTS_MARKDOWN_ITEMS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "documents/markdown_inline.h"

namespace dragoman {

inline constexpr size_t kMostMarkdownBytes = 8000;  // of a block that is one passage

// A thing in the block, as it is written.
struct MarkdownItem {
  enum Kind { kText, kOpen, kClose, kOpaque, kEmpty, kHtml, kMarker } kind;
  std::string raw;
  std::string text;           // characters, of kText, kOpaque and symbols
  size_t partner = 0;         // of kOpen: its kClose
  bool tight = false;         // of kOpen
  bool kept = false;          // of kEmpty: not text; stays where it is if it can
  bool breaks = false;        // of kEmpty: a line ends
  bool symbol = false;        // of kEmpty: a reference of one
  size_t begin = 0, end = 0;  // bytes of the source
};

struct MarkdownItems {
  std::vector<MarkdownItem> items;
  size_t begin = 0, end = 0;  // bytes of the source
};

// None if a marker is not where it is expected.  The events are those of `mask` (markdown_mask.h).
std::optional<MarkdownItems> FindMarkdownItems(std::string_view source, std::string_view mask,
                                               const std::vector<MarkdownEvent>& events);

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_MARKDOWN_ITEMS_H_
