#include "documents/text_encoding.h"

#include <string>
#include <string_view>

#include "engine/base/utf8.h"
#include "gtest/gtest.h"

namespace dragoman::text_encoding_test {
namespace {

using std::string_literals::operator""s;

// A file, its characters as UTF-8, and as it is written with "ж" at its end.
struct Case {
  std::string_view format;
  std::string bytes, text, written;
};

TEST(TextEncoding, FilesComeOutAsTheyCame) {
  const std::string po = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=";
  const Case cases[] = {
      {"text", "caf\xc3\xa9", "café", "caf\xc3\xa9ж"},
      {"text", "\xff\xfe" "a\0\xe9\0"s, "\uFEFFaé", "\xff\xfe" "a\0\xe9\0\x36\x04"s},
      {"text", "\xfe\xff" "\0a\0\xe9"s, "\uFEFFaé", "\xfe\xff" "\0a\0\xe9\x04\x36"s},
      {"text", "\xff\xfe\0\0" "a\0\0\0"s, "\uFEFFa", "\xff\xfe\0\0" "a\0\0\0\x36\x04\0\0"s},
      {"text", "\0\0\xfe\xff" "\0\0\0a"s, "\uFEFFa", "\0\0\xfe\xff" "\0\0\0a\0\0\x04\x36"s},
      // Without a mark: the zeros of what is ASCII say it.
      {"text", "a\0\xe9\0 \0\x16\x04"s, "aé Ж", "a\0\xe9\0 \0\x16\x04\x36\x04"s},
      {"text", "\x04\x16\0 \x04\x16"s, "Ж Ж", "\x04\x16\0 \x04\x16\x04\x36"s},
      {"xliff", "<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe9</a>",
       "<?xml version='1.0' encoding='UTF-8'?><a>é</a>",
       "<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe9</a>&#1078;"},
      {"html", "<meta charset=latin1>\x80", "<meta charset=UTF-8>€", "<meta charset=latin1>\x80&#1078;"},
      {"html", "<meta charset = 'gb2312'>\xb9\xfa\xfe\x50", "<meta charset = 'UTF-8'>国⺁",
       "<meta charset = 'gb2312'>\xb9\xfa\xfe\x50\xa7\xd8"},
      {"html", "<meta charset=Shift_JIS>\x87\x40", "<meta charset=UTF-8>①",
       "<meta charset=Shift_JIS>\x87\x40\x84\x77"},
      {"po", po + "KOI8-R\"\n\xd6", po + "UTF-8\"\nж", po + "KOI8-R\"\n\xd6\xd6"},
      {"po", po + "Shift_JIS\\n\"\n\x83\x5c", po + "UTF-8\\n\"\nソ", po + "Shift_JIS\\n\"\n\x83\x5c\x84\x77"},
      // No other encoding can say it.
      {"po", po + "ISO-8859-1\"\n\xe9", po + "UTF-8\"\né", po + "UTF-8\"\néж"},
  };
  for (const Case& c : cases) {
    std::string text = c.bytes;
    const TextEncoding encoding = DecodeText(c.format, &text);
    EXPECT_EQ(text, c.text) << c.bytes;
    EXPECT_EQ(EncodeText(c.format, encoding, text), c.bytes) << c.text;
    EXPECT_EQ(EncodeText(c.format, encoding, text + "ж"), c.written) << c.text;
  }
}

// They are read as they are, and refused where they are not UTF-8.
TEST(TextEncoding, WhatWouldNotComeBackIsNotDecoded) {
  for (const std::string& bytes : {"\xff\xfe" "a"s, "\xff\xfe\0\0" "abc"s, "\xff\xfe\0\xd8"s,
                                   "<?xml version='1.0' encoding='Klingon'?>\xe9"s}) {
    std::string text = bytes;
    EXPECT_EQ(DecodeText("xliff", &text).name, "");
    EXPECT_EQ(text, bytes);
  }
}

}  // namespace
}  // namespace dragoman::text_encoding_test
