#include "documents/text_encoding.h"

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "documents/document.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dragoman::text_encoding_test {
namespace {

using std::string_literals::operator""s;
using ::testing::StartsWith;

// A file, its characters as UTF-8, as it is written with "ж" at its end, and what its sender says.
struct Case {
  std::string_view format;
  std::string bytes, text, written, named = "";
};

TEST(TextEncoding, FilesComeOutAsTheyCame) {
  const std::string po = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=";
  const Case cases[] = {
      {"text", "caf\xc3\xa9", "café", "caf\xc3\xa9ж"},
      {"text", "\xff\xfe\x61\0\xe9\0"s, "aé", "\xff\xfe\x61\0\xe9\0\x36\x04"s},
      {"text", "\xfe\xff\0\x61\0\xe9"s, "aé", "\xfe\xff\0\x61\0\xe9\x04\x36"s},
      {"text", "\xff\xfe\0\0\x61\0\0\0"s, "a", "\xff\xfe\0\0\x61\0\0\0\x36\x04\0\0"s},
      {"text",
       "\0\0\xfe\xff"
       "\0\0\0a"s,
       "a",
       "\0\0\xfe\xff"
       "\0\0\0a\0\0\x04\x36"s},
      // Without a mark: the zeros of what is ASCII say it.
      {"text", "a\0\xe9\0 \0\x16\x04"s, "aé Ж", "a\0\xe9\0 \0\x16\x04\x36\x04"s},
      {"text", "\x04\x16\0 \x04\x16"s, "Ж Ж", "\x04\x16\0 \x04\x16\x04\x36"s},
      {"xliff", "<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe9</a>",
       "<?xml version='1.0' encoding='UTF-8'?><a>é</a>",
       "<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe9</a>&#1078;"},
      {"html", "<meta charset=latin1>\x80", "<meta charset=UTF-8>€",
       "<meta charset=latin1>\x80&#1078;"},
      {"html", "<meta charset = 'gb2312'>\xb9\xfa\xfe\x50", "<meta charset = 'UTF-8'>国⺁",
       "<meta charset = 'gb2312'>\xb9\xfa\xfe\x50\xa7\xd8"},
      {"html", "<meta charset=Shift_JIS>\x87\x40", "<meta charset=UTF-8>①",
       "<meta charset=Shift_JIS>\x87\x40\x84\x77"},
      {"po", po + "KOI8-R\"\n\xd6", po + "UTF-8\"\nж", po + "KOI8-R\"\n\xd6\xd6"},
      {"po", po + "Shift_JIS\\n\"\n\x83\x5c", po + "UTF-8\\n\"\nソ",
       po + "Shift_JIS\\n\"\n\x83\x5c\x84\x77"},
      {"srt", "\x93um \xe9\x94", "“um é”", "“um é”ж", "windows-1252"},
      {"srt", "caf\xe9\x85", "café…", "café…ж", "latin1"},
      {"srt", "\x83\x5c\x87\x40", "ソ①", "\x83\x5c\x87\x40\x84\x77", "Shift_JIS"},
      {"html", "<meta charset=utf-8>\xd6", "<meta charset=UTF-8>ж", "<meta charset=utf-8>\xd6\xd6",
       "koi8-r"},
      {"srt", "\xef\xbb\xbfum \xc3\xa9", "um é", "\uFEFFum éж", "windows-1252"},
      {"text", "\xff\xfe\x61\0"s, "a", "\xff\xfe\x61\0\x36\x04"s, "windows-1252"},
      // No other encoding can say it.
      {"po", po + "ISO-8859-1\"\n\xe9", po + "UTF-8\"\né", po + "UTF-8\"\néж"},
  };
  for (const Case& c : cases) {
    std::string text = c.bytes;
    const auto encoding = DecodeText(c.format, c.named, &text);
    ASSERT_TRUE(encoding.ok()) << c.bytes << encoding.status();
    EXPECT_EQ(text, c.text) << c.bytes;
    EXPECT_EQ(EncodeText(c.format, *encoding, text), c.bytes) << c.text;
    EXPECT_EQ(EncodeText(c.format, *encoding, text + "ж"), c.written) << c.text;
  }
  std::string text = po + "CHARSET\"\n\xd6";
  const TextEncoding encoding = DecodeText("po", "koi8-r", &text).value();
  EXPECT_EQ(EncodeText("po", encoding, text), po + "koi8-r\"\n\xd6");
}

std::string Refusal(std::string_view format, const std::string& named, std::string bytes) {
  return std::string(DecodeText(format, named, &bytes).status().message());
}

// Better refused than read as other characters.
TEST(TextEncoding, WhatIsNotOfItsEncodingIsRefused) {
  const std::string want = ": name its encoding (windows-1252, Shift_JIS, ...) or convert it";
  for (const DocumentFormat& format : DocumentFormats()) {
    const bool may_be = format.name == "properties";  // ISO-8859-1, as Java says
    EXPECT_EQ(Refusal(format.name, "", "a\n<?xml version='1.0'?>\xe9"),
              may_be ? "" : "line 2: is not UTF-8" + want);
    EXPECT_EQ(Refusal(format.name, "", "\xff\xfe\x61"s), "line 1: is UTF-16, want UTF-8");
  }
  for (const std::string& bytes : {"\xff\xfe\0\0\x61xy"s, "\xff\xfe\0\xd8"s,
                                   "<?xml version='1.0' encoding='Klingon'?>\xe9"s}) {
    EXPECT_THAT(Refusal("xliff", "", bytes), StartsWith("line 1: is ")) << bytes;
  }
  EXPECT_EQ(Refusal("xliff", "", "<?xml version='1.0' encoding='Klingon'?>e"), "");
  for (const char* const named : {"Klingon", "Shift_JIS", "ASCII//IGNORE", "UTF-16LE"}) {
    EXPECT_EQ(Refusal("srt", named, "caf\xe9!"),
              std::string("is not ") + named + ", or there is no such encoding");
  }
  EXPECT_EQ(Refusal("srt", "UTF-8", "caf\xe9"), "line 1: is not UTF-8" + want);
}

TEST(TextEncoding, ATranslationThatItsEncodingLacksIsUtf8AndAWarningSaysSo) {
  const std::string path = ::testing::TempDir() + "encoded.srt";
  std::ofstream(path) << "1\n00:00:01,000 --> 00:00:02,000\ncaf\xe9\n";
  std::vector<std::string> warnings;
  const DocumentOptions options = {
      .encoding = "windows-1252",
      .warn = [&](const std::string& what) { warnings.push_back(what); }};
  auto document = OpenDocument(*FindDocumentFormat("srt"), path, path + ".out", options);
  ASSERT_TRUE(document.ok() && (*document)->Next().ok());
  ASSERT_TRUE((*document)->Write({"кафе"}).ok());
  std::ifstream file(path + ".out");
  const std::string out((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_EQ(out, "1\n00:00:01,000 --> 00:00:02,000\nкафе\n");
  EXPECT_EQ(warnings,
            std::vector<std::string>{"is UTF-8 now, because windows-1252 lacks characters"});
}

}  // namespace
}  // namespace dragoman::text_encoding_test
