#include "client/utf8.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace dragoman {
namespace {

// The plain definition of UTF-8, to compare with.
std::string Encode(uint32_t c) {
  auto tail = [c](int shift) { return static_cast<char>(0x80 | ((c >> shift) & 0x3F)); };
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xC0 | (c >> 6)), tail(0)};
  if (c < 0x10000) return {static_cast<char>(0xE0 | (c >> 12)), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | (c >> 18)), tail(12), tail(6), tail(0)};
}

TEST(Utf8, TakesEveryCharacterButSurrogates) {
  for (uint32_t c = 0; c < 0x110000; ++c) {
    const std::string text = Encode(c);
    const bool surrogate = c >= 0xD800 && c < 0xE000;
    ASSERT_EQ(ValidUtf8Prefix(text), surrogate ? 0 : text.size()) << std::hex << c;
  }
  EXPECT_EQ(ValidUtf8Prefix(Encode(0x110000)), 0u);
}

TEST(Utf8, RefusesCutAndOverlongCharacters) {
  for (uint32_t c : {0x80u, 0x7FFu, 0x800u, 0xFFFFu, 0x10000u, 0x10FFFFu}) {
    const std::string text = Encode(c);
    for (size_t size = 1; size < text.size(); ++size) {
      EXPECT_EQ(ValidUtf8Prefix(text.substr(0, size)), 0u);
      EXPECT_EQ(ValidUtf8Prefix(text.substr(0, size) + "x"), 0u);
    }
  }
  EXPECT_EQ(ValidUtf8Prefix("\xC0\xAF"), 0u);
  EXPECT_EQ(ValidUtf8Prefix("\xE0\x80\xAF"), 0u);
  EXPECT_EQ(ValidUtf8Prefix("\xF0\x80\x80\xAF"), 0u);
  EXPECT_EQ(ValidUtf8Prefix("\xFF"), 0u);
}

TEST(Utf8, SaysWhereTheFirstWrongByteIs) {
  EXPECT_EQ(ValidUtf8Prefix(""), 0u);
  EXPECT_EQ(ValidUtf8Prefix("gr\xC3\xBC\xC3\x9F"), 6u);
  EXPECT_EQ(ValidUtf8Prefix("gr\xC3\xBC\xDF"), 4u);
}

}  // namespace
}  // namespace dragoman
