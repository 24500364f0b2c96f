// A small file that becomes large when it is read is refused, whatever its format.

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/xml_events.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/documents/zip_of.h"

namespace dragoman::document_memory_test {
namespace {

using ::testing::HasSubstr;

constexpr size_t kMost = 8 << 20;
const DocumentOptions kOptions = {
    .source_language = "en", .target_language = "de", .columns = {"1"}, .max_memory = kMost};

std::string Many(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

std::string In(const std::string& before, const std::string& content, const std::string& after) {
  return absl::StrCat(before, content, after);
}

void ExpectRefused(const std::string& path) {
  const absl::Status status = TranslateFile(path, Same, kOptions).status;
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(status.message(), HasSubstr("takes more than 8388608 bytes of memory"));
}

TEST(DocumentMemory, BoundsFilesOfOnePart) {
  constexpr int kTimes = 50'000;
  const std::string cue = "00:00:01,000 --> 00:00:02,000\na.\n\n";
  const std::vector<std::pair<std::string, std::string>> files = {
      {"a.txt", Many("a\n\n", kTimes)},
      {"a.html", Many("<p>a</p><!---->", kTimes)},
      {"a.md", Many("a\n\n", kTimes)},
      {"marks.md", Many("*a*", 4 * kTimes)},
      {"quotes.md", Many(">", 4 * kTimes) + "a"},
      {"a.srt", Many(cue, kTimes)},
      {"line.srt", "00:00:01,000 --> 00:00:02,000\n" + Many("<b>a", kTimes) + Many("</b>", kTimes)},
      {"a.vtt", "WEBVTT\n\n" + Many("00:01.000 --> 00:02.000\n- a\n- b\n\n", kTimes)},
      {"a.ass",
       In("[Events]\n", Many("Dialogue: 0,0:00:01.00,0:00:02.00,D,,0,0,0,,a.\n", kTimes), "")},
      {"a.xcstrings", In("{\"strings\":{", Many("\"a\":{},", kTimes), "\"b\":{}}}")},
      {"a.resx", In("<root>", Many("<data><value>a</value></data>", kTimes), "</root>")},
      {"a.ftl", Many("a = a\n", kTimes)},
      {"variants.ftl", In("a = { $n ->\n", Many("[a] b\n", kTimes), "*[c] d\n }\n")},
      {"a.php", In("<?php return [", Many("'a',", kTimes), "];")},
      {"variables.php", In("<?php return [\"a", Many("{$a} b", kTimes), "\"];")},
      {"a.po", Many("msgid \"a\"\nmsgstr \"\"\n\n", kTimes)},
      {"a.xlf",
       In("<xliff version=\"1.2\"><file><body>",
          Many("<trans-unit><source>a</source></trans-unit>", kTimes), "</body></file></xliff>")},
      {"codes.xlf", In("<xliff version=\"1.2\"><trans-unit><source>a",
                       Many("<x id=\"1\"/>", kTimes), "</source></trans-unit></xliff>")},
      {"a.tmx",
       In("<tmx>", Many("<tu><tuv xml:lang=\"en\"><seg>a</seg></tuv></tu>", kTimes), "</tmx>")},
      {"a.ts",
       In("<TS>", Many("<message><source>a</source><translation/></message>", kTimes), "</TS>")},
      {"a.json", In("[", Many("\"a\",", kTimes), "1]")},
      {"deep.json", Many("[", 10 * kTimes) + Many("]", 10 * kTimes)},
      {"branches.json", In("[\"{a,select,", Many("b{c}", kTimes), "}\"]")},
      {"a.arb", In("{", Many("\"a\":\"a\",", kTimes), "\"b\":1}")},
      {"a.properties", Many("a=b\n", kTimes)},
      {"choice.properties", In("a={0,choice,", Many("0#b|", kTimes), "1#c}")},
      {"a.yml", Many("- a\n", kTimes)},
      {"list.yml", In("- [", Many("1,", kTimes), "1]")},
      {"open.yml", Many("[", kTimes)},
      {"quotes.yml", In("- [", Many("\"\"", 2 * kTimes), "]")},
      {"anchors.yml", Many("- &a 1\n", 2 * kTimes)},
      {"strings.xml", In("<resources>", Many("<string>a</string>", kTimes), "</resources>")},
      {"a.strings", Many("a=\"a\";", kTimes)},
      {"a.stringsdict", In("<plist>", Many("<string>a</string>", kTimes), "</plist>")},
      {"a.csv", Many("a\n", kTimes)},
      {"wide.csv", Many("a,", kTimes)},
      {"a.tsv", Many("a\n", kTimes)},
      {"a.dita", In("<topic>", Many("<p>a</p>", kTimes), "</topic>")},
      {"elements.dita", In("<topic>", Many("<a/>", kTimes), "</topic>")},
  };
  for (const auto& [name, bytes] : files) {
    SCOPED_TRACE(name);
    ASSERT_LE(bytes.size(), 4'000'000);
    const std::string path = TemporaryPath("-" + name);
    WriteBytes(path, bytes);
    ExpectRefused(path);
  }
}

TEST(DocumentMemory, BoundsTheNamesOfAttributes) {
  std::string names;
  for (int i = 0; i < 200'000; ++i) absl::StrAppend(&names, " a", i, "=\"\"");
  const std::string path = TemporaryPath(".dita");
  WriteBytes(path, absl::StrCat("<topic", names, "/>"));
  ExpectRefused(path);
}

std::string Docx(const std::string& body) {
  const std::string path = TemporaryPath(".docx");
  WriteZip(path, {{"[Content_Types].xml",
                   "<Types><Default Extension=\"xml\" ContentType=\"application/vnd.openxmlformats-"
                   "officedocument.wordprocessingml.document.main+xml\"/></Types>"},
                  {"word/document.xml",
                   In("<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/"
                      "2006/main\">",
                      body, "</w:document>")}});
  return path;
}

TEST(DocumentMemory, BoundsContainers) {
  constexpr int kTimes = 20'000;
  ExpectRefused(Docx(Many("<w:p><w:r><w:t>a</w:t></w:r></w:p>", kTimes)));
  ExpectRefused(Docx(In("<w:p>", Many("<w:r><w:t>a</w:t></w:r>", kTimes), "</w:p>")));
  ExpectRefused(Docx(Many("<w:p/>", 3 * kTimes)));
  // The format would be written around each of the tabs.
  ExpectRefused(Docx(In("<w:p><w:r><w:rPr><w:b w:val=\"" + std::string(10'000, 'b') +
                            "\"/></w:rPr>"
                            "<w:t>a</w:t>",
                        Many("<w:tab/>", 1000), "<w:t>a</w:t></w:r></w:p>")));
  const std::string odt = TemporaryPath(".odt");
  WriteZip(odt,
           {{"content.xml", In("<o xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\">",
                               Many("<text:p>a</text:p>", kTimes), "</o>")}});
  ExpectRefused(odt);
  const std::string epub = TemporaryPath(".epub");
  WriteZip(epub, {{"META-INF/container.xml", "<c><rootfile full-path=\"a.opf\"/></c>"},
                  {"a.opf", "<p><item href=\"a.html\" media-type=\"application/xhtml+xml\"/></p>"},
                  {"a.html", In("<html>", Many("<p>a</p>", kTimes), "</html>")}});
  ExpectRefused(epub);
  std::vector<ZipMember> members(kTimes, {"", "", 0});
  for (int i = 0; i < kTimes; ++i) members[i].name = absl::StrCat("a", i);
  const std::string many = TemporaryPath(".docx");
  WriteZip(many, members);
  ExpectRefused(many);
}

// The count begins anew with each part.
TEST(DocumentMemory, IsThatOfOnePart) {
  std::vector<ZipMember> members = {{"content.xml", "<a/>"}};
  for (int i = 0; i < 10; ++i) {
    members.push_back({absl::StrCat("Object ", i, "/content.xml"),
                       In("<o xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\">",
                          Many("<text:p>a</text:p>", 3000), "</o>")});
  }
  const std::string path = TemporaryPath(".odt");
  WriteZip(path, members);
  const Translated translated = TranslateFile(path, Upper, kOptions);
  EXPECT_TRUE(translated.status.ok()) << translated.status;
  EXPECT_EQ(translated.texts.size(), 30'000);
}

TEST(DocumentMemory, IsEnoughForProse) {
  const std::string sentence =
      "The old teacher sees a small house in the morning, and she is glad. ";
  const std::string paragraph = Many(sentence, 6);
  std::string body;
  for (int i = 0; i < 1000; ++i) {
    absl::StrAppend(&body, "<w:p><w:pPr><w:pStyle w:val=\"Body\"/></w:pPr><w:r><w:t>", paragraph,
                    "</w:t></w:r><w:r><w:rPr><w:i/></w:rPr><w:t>So it is.</w:t></w:r></w:p>");
  }
  EXPECT_TRUE(TranslateFile(Docx(body), Upper, kOptions).status.ok());
  for (const char* const name : {".txt", ".md", ".html"}) {
    const std::string path = TemporaryPath(name);
    WriteBytes(path, Many(paragraph + "\n\n", 3000));  // 1.2 MB
    const absl::Status status = TranslateFile(path, Upper, kOptions).status;
    EXPECT_TRUE(status.ok()) << status;
  }
}

TEST(DocumentMemory, IsReturnedByTheParserOfXml) {
  Patience patience(kOptions);
  const std::string part = In("<a>", Many("<b c=\"d\"/>", 1000), "</a>");
  ASSERT_TRUE(ReadXmlEvents(part, &patience).ok());
  EXPECT_EQ(patience.taken(), 2002 * 2 * sizeof(XmlEvent));
  Patience little({.max_memory = 1000});
  const auto refused = ReadXmlEvents(part, &little);
  EXPECT_TRUE(absl::IsResourceExhausted(refused.status())) << refused.status();
  EXPECT_LE(little.taken(), 1000);
}

}  // namespace
}  // namespace dragoman::document_memory_test
