// Splits a text into sentences at punctuation and line breaks, without a model and without knowing
// its language.  Every byte of the text is either in exactly one sentence or between two, so that a
// translation can put the white space back where it was.

#ifndef DRAGOMAN_ENGINE_TEXT_SPLITTER_H_
#define DRAGOMAN_ENGINE_TEXT_SPLITTER_H_

#include <string_view>
#include <vector>

#include "engine/text/text_span.h"

namespace dragoman {

// The sentences of `text` in order.  None is empty, none begins or ends with white space, and only
// white space lies between them.  A text of white space has none.  A sentence ends at a line break,
// at a tab (columns), at a CJK full stop, after an Arabic or Armenian colon, and at . ! ? … (with
// any closing quotes and brackets) if white space and a possible start of a sentence follow; but
// never after an abbreviation ("Dr. Smith"), an initial ("J. Smith"), the marker of a list ("1.
// Wash"), inside a number ("3. 5"), or inside a short quotation or bracket.  A line that ends in a
// space before a word in lower case was only full (RFC 3676), and its sentence goes on; so it does
// after the Japanese の.  An Arabic sentence of 25 words or more also ends at commas between
// clauses.
// REQUIRES: text is valid UTF-8.
std::vector<TextSpan> SplitSentences(std::string_view text);

// The same, but these bytes, in order and not empty, are a sentence each.
std::vector<TextSpan> SplitAround(std::string_view text, const std::vector<TextSpan>& sentences);

// A sentence of a text without the marker of a list, a heading or a quotation that its line begins
// with, "* ", "# ", "> ", "a) ", "1) ", and without brackets around all of it.
TextSpan WithoutListMarker(std::string_view text, TextSpan sentence);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_SPLITTER_H_
