// The words of a text, as far as they can be found without a dictionary: the units that alignments
// link and that a glossary translates.

#ifndef DRAGOMAN_ENGINE_TEXT_WORDS_H_
#define DRAGOMAN_ENGINE_TEXT_WORDS_H_

#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "engine/text/text_span.h"

namespace dragoman {

// The words of `text` in order.  Adjacent letters and digits form a word, including apostrophes and
// hyphens between letters, and dots and commas between digits: "O'Neill", "well-known", "3.50".
// Every other character is a word of its own, together with its repetitions ("...").
//
// Chinese, Japanese, Thai, Lao, Khmer and Burmese put no spaces between words.  There, a word is
// what the model treats as one: it ends where one of `tokens`, which are in order, ends.  REQUIRES:
// text is valid UTF-8.
std::vector<TextSpan> SplitWords(std::string_view text, absl::Span<const TextSpan> tokens);
// The same, if every character were a token.
std::vector<TextSpan> SplitWords(std::string_view text);

// The characters of a text, which may stand for tokens that are not known.  REQUIRES: text is valid
// UTF-8.
std::vector<TextSpan> SpansOfCharacters(std::string_view text);

// Whether `c` is a letter or digit of any script: neither white space nor a mark.
bool IsLetterOrDigit(char32_t c);

// Whether the text has one.  REQUIRES: text is valid UTF-8.
bool HasLetterOrDigit(std::string_view text);

// Whether `c` is a letter or digit of a script that puts spaces between words.  A position between
// two of them is inside a word.
bool IsWordCharacter(char32_t c);

// Whether a word that ends in a word character continues if `c` follows.  A Korean word does not:
// particles are attached without a space, but do not make it another word.
bool ContinuesWord(char32_t c);

// Whether there is a word that could be translated: two letters that touch, or one that is a word
// in its script.  Numbers, single letters, what has letters and digits ("B2"), and units behind a
// number ("5 km") are none.  REQUIRES: text is valid UTF-8.
bool ContainsWord(std::string_view text);

// Whether what ends at byte `place` of the text does not end within a word.  REQUIRES: text is
// valid UTF-8, and place is the start of a code point, or the end.
bool EndsWordAt(std::string_view text, size_t place);

// Whether text[begin, end) consists of whole words.  REQUIRES: text is valid UTF-8, and both are
// starts of code points, or the end, with something in between.
bool IsWholeWord(std::string_view text, size_t begin, size_t end);

// The round brackets of a text, in order, if each belongs to another one; otherwise none.
// REQUIRES: text is valid UTF-8.
std::vector<TextSpan> FindBrackets(std::string_view text);
// Whether these brackets of `source` are those of `target`, and in the same order, whether they are
// as wide as letters of Latin or of Chinese; and those have something in them if these do.
bool HasSameBrackets(std::string_view source, absl::Span<const TextSpan> brackets,
                     std::string_view target);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_WORDS_H_
