// UTF-8: validation, length, and iteration by code points.
//
// No text makes them read beyond its ends or stay where they are: a byte that is no part of a code
// point is read as U+FFFD (kNoCharacter).

#ifndef DRAGOMAN_ENGINE_BASE_UTF8_H_
#define DRAGOMAN_ENGINE_BASE_UTF8_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace dragoman {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
inline constexpr char32_t kNoCharacter = 0xFFFD;

// True for well-formed UTF-8 (Unicode, table 3-7): no overlong form, no surrogate, nothing above
// U+10FFFF, nothing cut off.
bool IsValidUtf8(std::string_view text);

// The text, with U+FFFD for each byte that is no part of a code point.
std::string ValidUtf8(std::string_view text);

// REQUIRES: text is valid UTF-8.
int CountCodePoints(std::string_view text);

// NextCodePoint of what is not ASCII.
char32_t NextLongCodePoint(std::string_view text, size_t* position);

// The code point whose first byte is text[*position]; moves *position past it.  REQUIRES:
// *position < text.size().
inline char32_t NextCodePoint(std::string_view text, size_t* position) {
  const auto byte = static_cast<unsigned char>(text[*position]);
  if (byte >= 0x80) return NextLongCodePoint(text, position);
  ++*position;
  return byte;
}

// The last code point.  REQUIRES: text is not empty.
char32_t LastCodePoint(std::string_view text);

// REQUIRES: c is at most U+10FFFF.
void AppendUtf8(char32_t c, std::string* text);

// The number of a Unicode character that all of `digits` are; none if they are not one.
std::optional<char32_t> ParseCode(std::string_view digits, int base);

// The longest beginning of the text that has at most `most` bytes and no part of a code point.
std::string_view BeginningOf(std::string_view text, size_t most);

// What Python's str.isspace and str.strip regard as white space.
inline bool IsWhiteSpace(char32_t c) {
  if (c > 0x20 && c < 0x85) return false;
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

// `text` without white space at either end.
std::string_view StripWhiteSpace(std::string_view text);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_UTF8_H_
