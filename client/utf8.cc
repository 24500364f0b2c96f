#include "client/utf8.h"

#include <cstdint>

namespace dragoman {
namespace {

// The bytes of the character at the front of `text`, or 0 if they are none (Unicode, table 3-7).
// REQUIRES: text is not empty.
size_t CharacterSize(std::string_view text) {
  auto byte = [&text](size_t i) -> uint8_t { return i < text.size() ? text[i] : 0; };
  auto continues = [&byte](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const uint8_t first = byte(0);
  const uint8_t second = byte(1);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4 || !continues(1)) return 0;
  if (first < 0xE0) return 2;
  if (!continues(2)) return 0;
  if (first == 0xE0 && second < 0xA0) return 0;   // overlong
  if (first == 0xED && second >= 0xA0) return 0;  // a surrogate
  if (first < 0xF0) return 3;
  if (!continues(3)) return 0;
  if (first == 0xF0 && second < 0x90) return 0;   // overlong
  if (first == 0xF4 && second >= 0x90) return 0;  // above U+10FFFF
  return 4;
}

}  // namespace

size_t ValidUtf8Prefix(std::string_view text) {
  size_t position = 0;
  while (position < text.size()) {
    const size_t size = CharacterSize(text.substr(position));
    if (size == 0) break;
    position += size;
  }
  return position;
}

}  // namespace dragoman
