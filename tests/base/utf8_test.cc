#include "engine/base/utf8.h"

#include <iterator>
#include <random>
#include <string>

#include "gtest/gtest.h"

namespace dragoman {
namespace {

using std::string_literals::operator""s;

// Encodes as the standard defines it, without checking whether `c` may be encoded.
std::string EncodeAs(char32_t c, int length) {
  if (length == 1) return std::string(1, static_cast<char>(c));
  std::string bytes(length, '\0');
  for (int i = length - 1; i > 0; --i, c >>= 6) bytes[i] = static_cast<char>(0x80 | (c & 0x3F));
  bytes[0] = static_cast<char>((0xF00 >> length & 0xFF) | c);
  return bytes;
}

int ShortestLength(char32_t c) { return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4; }

TEST(Utf8, EveryCodePointIsValidAndReadBack) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    const bool is_surrogate = c >= 0xD800 && c <= 0xDFFF;
    const std::string bytes = EncodeAs(c, ShortestLength(c));
    ASSERT_EQ(IsValidUtf8(bytes), !is_surrogate) << static_cast<uint32_t>(c);
    if (is_surrogate) continue;
    size_t position = 0;
    ASSERT_EQ(NextCodePoint(bytes, &position), c);
    ASSERT_EQ(position, bytes.size());
    ASSERT_EQ(CountCodePoints(bytes), 1);
  }
}

TEST(Utf8, OverlongFormsAreInvalid) {
  for (char32_t c = 0; c < 0x10000; ++c) {
    for (int length = ShortestLength(c) + 1; length <= 4; ++length) {
      ASSERT_FALSE(IsValidUtf8(EncodeAs(c, length))) << static_cast<uint32_t>(c) << " " << length;
    }
  }
}

TEST(Utf8, NothingAboveTheLastCodePointIsValid) {
  for (char32_t c = 0x110000; c < 0x200000; ++c) ASSERT_FALSE(IsValidUtf8(EncodeAs(c, 4)));
  EXPECT_FALSE(IsValidUtf8("\xF8\x88\x80\x80\x80"));
  EXPECT_FALSE(IsValidUtf8("\xFF"));
}

TEST(Utf8, TruncatedSequencesAreInvalid) {
  const std::string text = "é東🙂";
  for (size_t size = 0; size <= text.size(); ++size) {
    const bool whole = size == 0 || size == 2 || size == 5 || size == 9;
    EXPECT_EQ(IsValidUtf8(text.substr(0, size)), whole) << size;
  }
  EXPECT_FALSE(IsValidUtf8("\x80"));
  EXPECT_FALSE(IsValidUtf8("\xC3(a"));
}

TEST(Utf8, CountsCodePointsNotBytes) {
  EXPECT_EQ(CountCodePoints(""), 0);
  EXPECT_EQ(CountCodePoints("aé東🙂"), 4);
  EXPECT_EQ(CountCodePoints("a\0b"s), 3);
}

TEST(Utf8, ABeginningHasWholeCharacters) {
  const std::string text = "aé東🙂";  // 1, 2, 3 and 4 bytes
  const size_t sizes[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
  for (size_t most = 0; most < std::size(sizes); ++most) {
    EXPECT_EQ(BeginningOf(text, most), text.substr(0, sizes[most])) << most;
  }
}

TEST(Utf8, WritesCharacters) {
  std::string text;
  for (const char32_t c : U"aé東🙂") {
    if (c != 0) AppendUtf8(c, &text);
  }
  EXPECT_EQ(text, "aé東🙂");
}

// What a scan over any bytes does: it goes on to the end, and reads what IsValidUtf8 accepts.
void Scan(const std::string& bytes) {
  std::string valid;
  for (size_t i = 0; i < bytes.size();) {
    const size_t begin = i;
    const char32_t c = NextCodePoint(bytes, &i);
    ASSERT_GT(i, begin);
    ASSERT_LE(i, bytes.size());
    const std::string read = bytes.substr(begin, i - begin);
    if (IsValidUtf8(read)) {
      valid += read;
    } else {
      ASSERT_EQ(c, kNoCharacter);
      ASSERT_EQ(read.size(), 1);
      valid += "\uFFFD";
    }
    ASSERT_EQ(IsValidUtf8(bytes.substr(0, i)), valid == bytes.substr(0, i));
  }
  ASSERT_EQ(ValidUtf8(bytes), valid);
  ASSERT_TRUE(IsValidUtf8(valid));
  ASSERT_EQ(IsValidUtf8(bytes), valid == bytes);
  const char32_t last = LastCodePoint(bytes);
  size_t end = bytes.size() - 1;
  while (end > 0 && bytes.size() - end < 4 && !IsValidUtf8(bytes.substr(end))) --end;
  ASSERT_EQ(last, IsValidUtf8(bytes.substr(end)) ? NextCodePoint(bytes, &end) : kNoCharacter);
  for (size_t most = 4; most <= bytes.size(); ++most) {
    ASSERT_GT(BeginningOf(bytes, most).size(), most - 4);
    ASSERT_LE(BeginningOf(bytes, most).size(), most);
  }
  const std::string_view stripped = StripWhiteSpace(bytes);
  ASSERT_LE(stripped.size(), bytes.size());
  ASSERT_EQ(StripWhiteSpace(stripped), stripped);
}

// The bytes that matter: first bytes of each length, continuations at the bounds of their ranges,
// white space, and what is in no text.
constexpr unsigned char kTelling[] = {'a',  ' ',  0x80, 0x85, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC1,
                                      0xC2, 0xDF, 0xE0, 0xE2, 0xED, 0xEF, 0xF0, 0xF4, 0xF5, 0xFF};

TEST(Utf8, ScansOfAnyBytesGoOn) {
  std::mt19937_64 random(1);
  const auto bytes_of = [](size_t number, size_t size) {
    std::string bytes;
    for (; bytes.size() < size; number /= std::size(kTelling)) {
      bytes += static_cast<char>(kTelling[number % std::size(kTelling)]);
    }
    return bytes;
  };
  size_t all = std::size(kTelling);
  for (size_t size = 1; size <= 3; ++size, all *= std::size(kTelling)) {
    for (size_t number = 0; number < all; ++number) {
      ASSERT_NO_FATAL_FAILURE(Scan(bytes_of(number, size)));
    }
  }
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_NO_FATAL_FAILURE(Scan(bytes_of(random(), 1 + random() % 14)));
  }
}

TEST(Utf8, StripsWhiteSpaceOfAllScripts) {
  EXPECT_EQ(StripWhiteSpace(" \t\u00A0\u3000a b\u2028\n"), "a b");
  EXPECT_EQ(StripWhiteSpace("\u200Ba\u200B"),
            "\u200Ba\u200B");  // Python does not count it as white space either
  EXPECT_EQ(StripWhiteSpace(" \n "), "");
  EXPECT_EQ(StripWhiteSpace(""), "");
}

}  // namespace
}  // namespace dragoman
