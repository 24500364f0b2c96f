// Where a sentence that is too long for a model is divided.
//
//   If you come early, ring; and if you are late, take the key, and wait.
//                          |                                              best: a semicolon
//                                                           |             then: a comma and "and"
//
// A sentence is divided into two parts near its middle, and each part again while it is too long.
// Among the places around the middle the best kind wins: the end of a sentence within quotes, a
// semicolon, a colon or dash, a comma before a conjunction, another comma, white space; in scripts
// without spaces, the end of a token.  Never within a word.

#ifndef DRAGOMAN_ENGINE_TEXT_INNER_BOUNDARIES_H_
#define DRAGOMAN_ENGINE_TEXT_INNER_BOUNDARIES_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "engine/text/text_span.h"

namespace dragoman {

// Spans are bytes of the text, in order.
struct LongSentence {
  std::string_view text;         // valid UTF-8
  std::vector<TextSpan> tokens;  // what is counted
  std::vector<TextSpan> whole;   // is never divided: literals, opaque marks
  std::vector<TextSpan> marks;   // is divided only if there is no place outside of it
};

// The parts, without white space at their ends.  They have at most `most` tokens each, as far as
// there are places to divide them; if there is none, there is one part.
std::vector<TextSpan> DivideSentence(const LongSentence& sentence, size_t most);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_INNER_BOUNDARIES_H_
