// Upper and lower case of letters of any script, character by character (Unicode's simple
// mappings): what has no counterpart of one character, like ß, stays as it is.
//
// Thread-safe.

#ifndef DRAGOMAN_ENGINE_TEXT_LETTER_CASE_H_
#define DRAGOMAN_ENGINE_TEXT_LETTER_CASE_H_

#include <string>
#include <string_view>

namespace dragoman {

char32_t LowerCase(char32_t c);
char32_t UpperCase(char32_t c);

// "KLIMA" of "Klima".  REQUIRES: text is valid UTF-8.
std::string InUpperCase(std::string_view text);
// "Alte Häuser" of "alte Häuser".  REQUIRES: text is valid UTF-8.
std::string Capitalized(std::string_view text);

// Whether it has at least two letters with a lower case, and all of them are in upper case.
// REQUIRES: text is valid UTF-8.
bool IsInUpperCase(std::string_view text);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_TEXT_LETTER_CASE_H_
