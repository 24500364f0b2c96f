#include "engine/base/utf8.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "absl/algorithm/container.h"

namespace dragoman {
namespace {

constexpr size_t kMostUtf8Bytes = 4;  // bytes of a code point

bool IsContinuation(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

// The length of a code point whose first byte is `first`; 0 if there is no such code point.
size_t LengthFrom(uint8_t first) {
  if (first < 0x80) return 1;
  if (first < 0xC2) return 0;  // a continuation, or an overlong form of U+0000 .. U+007F
  if (first < 0xE0) return 2;
  if (first < 0xF0) return 3;
  return first < 0xF5 ? 4 : 0;
}

// After some first bytes, the range of the second byte is restricted.
bool SecondByteFits(uint8_t first, uint8_t second) {
  switch (first) {
    case 0xE0:
      return second >= 0xA0;  // else overlong
    case 0xED:
      return second < 0xA0;  // else a surrogate
    case 0xF0:
      return second >= 0x90;  // else overlong
    case 0xF4:
      return second < 0x90;  // else above U+10FFFF
    default:
      return true;
  }
}

// The length of the code point that begins at text[i]; 0 if none does.
size_t LengthAt(std::string_view text, size_t i) {
  const uint8_t first = static_cast<uint8_t>(text[i]);
  const size_t length = LengthFrom(first);
  if (length > text.size() - i) return 0;
  for (size_t k = 1; k < length; ++k) {
    if (!IsContinuation(text[i + k])) return 0;
  }
  const bool fits = length < 2 || SecondByteFits(first, static_cast<uint8_t>(text[i + 1]));
  return fits ? length : 0;
}

}  // namespace

bool IsValidUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const size_t length = LengthAt(text, i);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

std::string ValidUtf8(std::string_view text) {
  std::string valid;
  for (size_t i = 0; i < text.size();) AppendUtf8(NextCodePoint(text, &i), &valid);
  return valid;
}

int CountCodePoints(std::string_view text) {
  return static_cast<int>(absl::c_count_if(text, [](char c) { return !IsContinuation(c); }));
}

char32_t NextLongCodePoint(std::string_view text, size_t* position) {
  const size_t length = LengthAt(text, *position);
  if (length == 0) {
    ++*position;
    return kNoCharacter;
  }
  const uint8_t first = static_cast<uint8_t>(text[*position]);
  char32_t c = length == 1 ? first : first & (0x7F >> length);
  for (size_t k = 1; k < length; ++k) {
    c = c << 6 | (static_cast<uint8_t>(text[*position + k]) & 0x3F);
  }
  *position += length;
  return c;
}

char32_t LastCodePoint(std::string_view text) {
  for (size_t length = 1; length <= std::min(text.size(), kMostUtf8Bytes); ++length) {
    size_t begin = text.size() - length;
    if (LengthAt(text, begin) == length) return NextCodePoint(text, &begin);
  }
  return kNoCharacter;
}

void AppendUtf8(char32_t c, std::string* text) {
  const auto tail = [&](int shift) {
    text->push_back(static_cast<char>(0x80 | (c >> shift & 0x3F)));
  };
  if (c < 0x80) {
    text->push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    text->push_back(static_cast<char>(0xC0 | c >> 6));
    tail(0);
  } else if (c < 0x10000) {
    text->push_back(static_cast<char>(0xE0 | c >> 12));
    tail(6);
    tail(0);
  } else {
    text->push_back(static_cast<char>(0xF0 | c >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

std::optional<char32_t> ParseCode(std::string_view digits, int base) {
  uint32_t code = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, code, base);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (error != std::errc() || stop != end || surrogate || code > 0x10ffff) return std::nullopt;
  return static_cast<char32_t>(code);
}

std::string_view BeginningOf(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  for (size_t back = 0; back < kMostUtf8Bytes && back <= most; ++back) {
    if (!IsContinuation(text[most - back])) return text.substr(0, most - back);
  }
  return text.substr(0, most);  // these bytes are no code point
}

std::string_view StripWhiteSpace(std::string_view text) {
  size_t begin = text.size();
  size_t end = 0;
  for (size_t i = 0; i < text.size();) {
    const size_t start = i;
    if (IsWhiteSpace(NextCodePoint(text, &i))) continue;
    begin = std::min(begin, start);
    end = i;
  }
  return begin < end ? text.substr(begin, end - begin) : std::string_view();
}

}  // namespace dragoman
