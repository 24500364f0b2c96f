// Markdown as people write it, made CommonMark for its parser: a copy of the source, of the same
// size, in which extensions are what the parser knows.  Its places are those of the source, whose
// bytes are written, so nothing of the copy comes out.
//
//   source  !!! note "The dog"     :::tip[The dog]     : a definition    {{% notice %}}
//   copy    - #       The dog      #      The dog      - a definition    (blank)
//
//   source  It costs $5, $x^2$ or {{< price >}}, ==they say=={: .x}
//   copy    It costs $5, ..... or .............. --they say--.......
//
// In a line, "." is kKept, what is kept as it is, and "-" the marker of a span: kMarker and kMore.

#ifndef DRAGOMAN_DOCUMENTS_MARKDOWN_MASK_H_
#define DRAGOMAN_DOCUMENTS_MARKDOWN_MASK_H_

#include <string>
#include <string_view>

namespace dragoman {

class Patience;  // engine/base/patience.h

struct MarkdownMask {
  static constexpr char kKept = '\x01';
  static constexpr char kMarker = '\x02', kMore = '\x03';  // its first byte, and the others

  std::string bytes;    // cut off if the patience did not last
  bool is_mdx = false;  // it imports or exports something: then nothing is code that is indented
};

MarkdownMask MaskMarkdown(std::string_view source, Patience* patience);

// The size of an equation that begins with the text, by Pandoc's rule: "$x$", but not "$5 or $6";
// 0 if there is none.
size_t EquationSize(std::string_view text);

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_MARKDOWN_MASK_H_
